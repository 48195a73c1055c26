package dbfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"

	"github.com/sievetable/sievetable/internal/openfiles"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/layout"
)

// Open opens a table. Errors name the file.
func Open(path string, o Options) (*File, error) {
	f, err := OpenDamaged(path, o)
	if err != nil {
		return nil, err
	}
	if f.Damage != nil {
		return nil, errors.Join(cmp.Or(f.ForeignErr, f.Damage), f.Close())
	}
	return f, nil
}

// OpenDamaged opens a table as far as possible. A file that cannot be a damaged LevelDB
// table is an error.
func OpenDamaged(path string, o Options) (*File, error) {
	f, err := OpenRegular(path, o.Outputs)
	if err != nil {
		return nil, InPlaceOfTable(path, o, err)
	}
	f.Src = pastUnreadable(f.Src, path, o.Unread)
	err = f.open(o)
	if errors.Is(err, table.ErrCorrupt) {
		f.Damage = f.Wrap(err)
		var sure bool
		if sure, err = f.foreignError(o); !sure {
			f.ForeignErr, err = f.Wrap(err), nil
		}
	}
	if err != nil {
		return nil, errors.Join(f.Wrap(err), f.Close())
	}
	return f, nil
}

// InPlaceOfTable returns the error for a table whose name another kind of file has, which err says. If a manifest lists
// the table, it is damage: the entries are lost.
func InPlaceOfTable(path string, o Options, err error) error {
	listed, other := o.Line != nil || o.Meta != nil || IsInManifest(path), regular.NotRegularError{}
	s, found := StandInOf(path, nil, err)
	switch {
	case found:
		return &FileError{path, s.InPlaceOfTable(listed || o.Numbered)}
	case listed && errors.As(err, &other):
		return &FileError{path, Corruption(other.Error() + ": restore it")}
	}
	return err
}

// openFiles are the files of all Files, which can be more than the process may have open.
var openFiles = openfiles.New(regular.MaxOpenFiles(), files.Open,
	func(path string) error {
		return &FileError{path, fmt.Errorf("replaced by another file since it was opened: %w", fs.ErrNotExist)}
	})

// OpenRegular opens a regular file that is not an output.
func OpenRegular(path string, outputs output.Files) (*File, error) {
	file, err := openFiles.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = outputs.Check(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &File{Path: path, Size: info.Size(), Src: file.(io.ReaderAt), file: file}, nil
}

// keptBlocks returns the Cache of Options.KeepBlocks.
var keptBlocks = sync.OnceValue(func() *table.Cache { return table.NewCache(64 << 20) })

// open opens the table as one of internal keys if it most likely is, so that its index and its filters
// are read once, and again only if what they and the keys say is different.
func (f *File) open(o Options) error {
	if err := f.setSize(o); err != nil {
		return err
	}
	f.Options = &table.ReaderOptions{Codecs: codecs.All(), TableFilterPolicies: tablefilter.Policies(), MaxBlockSize: o.MaxBlock}
	f.Options.Metrics = new(table.Metrics)
	if o.KeepBlocks {
		f.Options.Cache = keptBlocks()
	}
	f.declareOrder(o.Order)
	f.Internal = o.InManifest() || o.InternalKeys == Yes
	isKnown := o.Form != nil && o.Form.FileSize == f.Size // else it is another table
	if isKnown {
		f.Form = *o.Form
	}
	likely := f.Form
	layout, err := f.read(o)
	if err == nil {
		err = checkTail(layout, o.Line)
	}
	if err != nil {
		return err
	}
	f.Layout, f.Empty, f.filters = layout, len(layout.Data) == 0, filtersOf(f.Reader, layout, o)
	if err := f.checkTailSize(o); err != nil {
		return err
	}
	if !isKnown && !f.isIdentified(o) {
		if err := f.detectForm(o); err != nil {
			return err
		}
	}
	if f.FilterUnusable || f.Rewritten { // lookups do without filters that would hide keys
		f.filters.Blocks, f.filters.Table, f.filters.Pages = nil, nil, nil
	}
	if o.ScanOnly {
		f.dropLayout()
	}
	if f.Reader == nil || f.Form != likely {
		if err := f.newReader(o); err != nil {
			return err
		}
	}
	if o.Line == nil || f.isIdentified(o) {
		return nil
	}
	return f.checkEnds(o.Line.Smallest, o.Line.Largest, differsFromLine)
}

// isIdentified reports whether the TailSum says enough about a table of a set, so that no data block need be read to
// open it. Over a network each would take a request. Before Verify, small tables are read at once.
func (f *File) isIdentified(o Options) bool {
	return files.IsRemote(f.Path) && o.Line != nil && o.Line.TailSum != "" && (o.ReadOnce == nil || f.Size > wholeFile)
}

// setSize sets the size of the table, which the file can exceed.
func (f *File) setSize(o Options) error {
	if files.IsRemote(f.Path) {
		r := files.Reads{Through: o.ScanOnly}
		if o.Line != nil {
			r.Tail = o.Line.TailSize
		}
		files.Expect(f.Path, r)
	}
	if o.WrapReader != nil {
		f.Src = o.WrapReader(f.Src)
	}
	if meta := o.Meta; meta != nil && 0 < meta.Size && meta.Size < uint64(f.Size) && hasMagicAt(f.Src, int64(meta.Size)) {
		f.Size = int64(meta.Size) // engines ignore what follows in the file
	}
	f.Form.FileSize = f.Size
	f.ofDatabase = o.inDatabase() || o.InManifest() || IsInManifest(f.Path)
	if f.inSet = o.Line != nil; f.inSet && f.Size != o.Line.Size {
		return differs("size", f.Size, o.Line.Size)
	}
	if o.ReadOnce != nil {
		tail := int64(0)
		if f.inSet {
			tail = o.Line.TailSize
		}
		f.once = newReadOnce(f.Src, f.Size, tail, o.ReadOnce)
		f.Src = f.once
	}
	return nil
}

// newReader sets the Reader of a table in the form that is known.
func (f *File) newReader(o Options) (err error) {
	f.Options.Comparer, f.Options.IgnoreFilter = f.Comparer(), f.FilterUnusable || o.readsNoFilter()
	f.Reader, err = table.NewReader(f.Src, f.Size, f.Options)
	return err
}

// read returns the layout, and sets the Reader of the table as it most likely is, unless there can be none.
func (f *File) read(o Options) (*layout.Layout, error) {
	if f.newReader(o) == nil {
		if layout, err := f.Reader.Layout(); err == nil {
			return layout, nil
		}
	}
	f.Reader = nil
	return table.ReadLayout(f.Src, f.Size, f.Options)
}

// dropLayout frees what grows with the file.
func (f *File) dropLayout() {
	isLarge := f.Layout.Index.Length > 1<<20
	f.Layout, f.filters.Blocks, f.filters.Table = nil, nil, nil
	if isLarge {
		runtime.GC() // before a Reader allocates as much
	}
}

// wholeFile is how large a table may be to be read at once.
const wholeFile = 4 << 20

// maxKept is the largest read that is kept until the check. What is larger, such as the filter of a large table, is
// read twice: its memory would come on top of what the check takes.
const maxKept = 16 << 20

// A readOnce reads a table that will be checked completely. It keeps what is read to open the table, up to
// maxKept bytes of each read, so that the check does not read that again. One goroutine at a time may use it.
type readOnce struct {
	io.ReaderAt
	size     int64
	count    func(n int64)    // is called with the bytes that the check reads
	memory   *[wholeFile]byte // nil for a large table
	kept     []extent         // each is kept until the check has read it, unless it is all of the table
	checking bool
}

// An extent is a part of a file.
type extent struct {
	offset int64
	bytes  []byte
}

// wholeFiles are memory for one small table after the other.
var wholeFiles = sync.Pool{New: func() any { return new([wholeFile]byte) }}

// newReadOnce returns a source of the table of size bytes in r. tail is how many bytes there may be behind the
// data blocks, or 0 if that is unknown. If what it reads ahead cannot be read, the error comes again for the
// part that is needed.
func newReadOnce(r io.ReaderAt, size, tail int64, count func(int64)) *readOnce {
	o := &readOnce{ReaderAt: r, size: size, count: count}
	var p []byte
	if size <= wholeFile {
		o.memory = wholeFiles.Get().(*[wholeFile]byte)
		p = o.memory[:size]
	} else if tail > 0 && tail <= min(size, maxKept) {
		p = make([]byte, tail)
	}
	from := size - int64(len(p))
	if _, err := io.ReadFull(io.NewSectionReader(r, from, size-from), p); err == nil {
		o.kept = append(o.kept, extent{from, p})
	}
	return o
}

// close gives the memory back. It does nothing for nil.
func (o *readOnce) close() {
	if o != nil && o.memory != nil {
		wholeFiles.Put(o.memory)
		o.memory, o.kept = nil, nil
	}
}

// startCheck says that the table is open. It does nothing for nil.
func (o *readOnce) startCheck() {
	if o != nil {
		o.checking = true
	}
}

// ReadAt reads from memory, or from the file.
func (o *readOnce) ReadAt(p []byte, off int64) (int, error) {
	end := min(off+int64(len(p)), o.size)
	for i, e := range o.kept {
		if off < e.offset || off > end || end > e.offset+int64(len(e.bytes)) {
			continue
		}
		n, err := bytes.NewReader(e.bytes).ReadAt(p, off-e.offset)
		if o.checking && o.memory == nil {
			o.kept[i] = extent{}
		}
		return n, err
	}
	n, err := o.ReaderAt.ReadAt(p, off)
	if o.checking {
		o.count(int64(n))
	} else if n == len(p) && n <= maxKept {
		o.kept = append(o.kept, extent{off, bytes.Clone(p)})
	}
	return n, err
}
