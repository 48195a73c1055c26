package command

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/byprefix"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A prefixResult is what a source has, by prefix.
type prefixResult struct {
	*byprefix.Result
	path    string
	rule    byprefix.Rule
	hasLive bool // entries have versions, so that some may not be live
}

// print prints a line for each prefix, and then for what others have.
func (r prefixResult) print(out io.Writer) {
	text.Line(out, "%s: %s", r.path, r.about())
	if r.All.Entries == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush() // out remembers its error
	head := []string{"bytes", "share", "keys", "values", "entries"}
	if r.hasLive {
		head = append(head, "live bytes", "live entries")
	}
	text.Cells(w, append(head, "  prefix")...)
	for _, g := range r.Top {
		r.row(w, g.Count, wire.Quote(g.Prefix))
	}
	if r.Without.Entries > 0 {
		r.row(w, r.Without, r.withoutText())
	}
	if r.Others.Entries > 0 {
		r.row(w, r.Others, r.othersText())
	}
	r.row(w, r.All, "all")
}

// about says what there is.
func (r prefixResult) about() string {
	if r.All.Entries == 0 {
		return "no entries"
	}
	more := ""
	if r.Unknown.Entries > 0 {
		more = "more than "
	}
	return fmt.Sprintf("%s, %s%s", text.Count(r.All.Entries, "entry"), more, text.Count(r.Prefixes, "prefix"))
}

// row prints what entries have.
func (r prefixResult) row(w io.Writer, n byprefix.Count, what string) {
	share := 100 * float64(n.Bytes()) / float64(max(1, r.All.Bytes()))
	cells := []string{text.Bytes(n.Bytes()), fmt.Sprintf("%.1f %%", share), text.Bytes(n.KeyBytes), text.Bytes(n.ValueBytes), humanize.Comma(int64(n.Entries))}
	if r.hasLive {
		cells = append(cells, text.Bytes(n.LiveBytes), humanize.Comma(int64(n.LiveEntries)))
	}
	text.Cells(w, append(cells, "  "+what)...)
}

// withoutText says which keys have no prefix.
func (r prefixResult) withoutText() string {
	switch {
	case r.rule.Delimiter != nil:
		return "keys without " + wire.Quote(r.rule.Delimiter)
	case r.rule.Length == 1:
		return "the empty key"
	}
	return fmt.Sprintf("keys of < %d bytes", r.rule.Length)
}

// othersText names the prefixes that are not printed.
func (r prefixResult) othersText() string {
	if r.Unknown.Entries > 0 {
		return "all other prefixes"
	}
	return text.Count(r.Prefixes-uint64(len(r.Top)), "other prefix")
}

// A prefixCount is a byprefix.Count as JSON.
type prefixCount struct {
	Entries     uint64  `json:"entries"`
	KeyBytes    uint64  `json:"key_bytes"`
	ValueBytes  uint64  `json:"value_bytes"`
	LiveEntries *uint64 `json:"live_entries,omitempty"` // nil: entries have no versions
	LiveBytes   *uint64 `json:"live_bytes,omitempty"`
}

func (r prefixResult) count(n byprefix.Count) prefixCount {
	c := prefixCount{Entries: n.Entries, KeyBytes: n.KeyBytes, ValueBytes: n.ValueBytes}
	if r.hasLive {
		c.LiveEntries, c.LiveBytes = &n.LiveEntries, &n.LiveBytes
	}
	return c
}

// A prefixGroup is a byprefix.Group as JSON.
type prefixGroup struct {
	Prefix       *string `json:"prefix,omitempty"`
	PrefixBase64 []byte  `json:"prefix_base64,omitempty"`
	prefixCount
}

// json returns what --json prints.
func (r prefixResult) json() any {
	top := []prefixGroup{}
	for _, g := range r.Top {
		prefix, encoded := printable.StringOrBytes(g.Prefix)
		top = append(top, prefixGroup{prefix, encoded, r.count(g.Count)})
	}
	return struct {
		File string `json:"file"`
		prefixCount
		Prefixes uint64        `json:"prefixes"`
		Top      []prefixGroup `json:"top"`
		Others   prefixCount   `json:"others"`
		Without  prefixCount   `json:"without_prefix"`
		Unknown  prefixCount   `json:"others_not_told_apart"`
	}{r.path, r.count(r.All), r.Prefixes, top, r.count(r.Others), r.count(r.Without), r.count(r.Unknown)}
}
