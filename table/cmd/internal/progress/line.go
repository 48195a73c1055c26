//go:build !wasip1

package progress

import (
	"strings"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/dustin/go-humanize"
)

const (
	firstRates = time.Second // too early, rates are random

	// free is the number of columns that stay free: one, because some terminals wrap after the last column, and
	// two for "^C", which a terminal shows for an interrupt.
	free = 1 + len("^C")

	whatKey, unitKey = "what", "unit" // keys of pb's bars: a word for the work, and the unit
)

// line is the pb template of a Bar. Below 60 columns, of which three stay free, it shows the word and the
// percentage, or the percentage alone if the word does not fit. The word matters: without it, the next Bar of a
// command seems to go back. A bar of less than ten columns is not drawn.
const line = `{{$left := printf "%s%s" (string . "what") (percent . " %3.0f %%" "")}}
{{- $numbers := numbers . $left}}
{{- $least := printf "%s  [==========]  %s" $left $numbers}}
{{- $short := amount .}}
{{- if gt .Total 0}}{{$short = percent . "%3.0f %%"}}{{end}}
{{- $named := printf "%s %s" (string . "what") $short}}
{{- if and (lt .Width 57) (le (len $named) .Width)}}{{$named}}
{{- else if lt .Width 57}}{{$short}}
{{- else}}
	{{- $left}}  {{if and (gt .Total 0) (le (len $least) .Width)}}{{bar . "[" "=" "=" " " "]"}}  {{end}}{{$numbers}}
{{- end}}`

func init() {
	pb.RegisterElement("numbers", pb.ElementFunc(numbers), false)
	pb.RegisterElement("amount", pb.ElementFunc(func(s *pb.State, _ ...string) string { return amount(s, s.Value()) }), false)
}

// numbers shows how much is done and, after a second, the rate and the time left. It leaves out what does not fit
// behind args[0], since a number that is cut off is wrong.
func numbers(s *pb.State, args ...string) string {
	parts := []string{amount(s, s.Value())}
	if s.Total() > 0 {
		parts[0] += " of " + amount(s, s.Total())
	}
	parts[0] += pb.ElementString(s, unitKey)
	if elapsed := s.Time().Sub(s.StartTime()); elapsed >= firstRates && s.Value() > 0 {
		parts = append(parts, rates(s, float64(s.Value())/elapsed.Seconds())...)
	}
	for ; len(parts) > 0; parts = parts[:len(parts)-1] {
		if text := strings.Join(parts, ", "); len(args[0])+len("  ")+len(text) <= s.Width() {
			return text
		}
	}
	return ""
}

// rates shows the mean rate per second since the start, and the time left. pb's own rates are of the last
// seconds: after a pause, its time left overflows.
func rates(s *pb.State, rate float64) []string {
	parts := []string{amount(s, int64(rate)) + "/s"}
	const longest = float64(1000 * time.Hour)
	if left := float64(s.Total()-s.Value()) / rate * float64(time.Second); s.Total() > 0 && left < longest {
		parts = append(parts, time.Duration(left).Round(time.Second).String()+" left")
	}
	return parts
}

// amount formats n, as bytes if there is no unit.
func amount(s *pb.State, n int64) string {
	if pb.ElementString(s, unitKey) == "" {
		return humanize.Bytes(uint64(max(0, n)))
	}
	return humanize.Comma(n)
}
