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

// OpenDamaged opens a table as far as possible. It returns an error if the file cannot be a damaged LevelDB
// table.
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

// InPlaceOfTable returns the error for a table that could not be opened because of err, since another kind of
// file has its name. If a manifest lists the table, this is damage: the entries are lost.
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

// openFiles holds the files of all Files. There can be more than the process may have open.
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

// keptBlocks returns the Cache for Options.KeepBlocks.
var keptBlocks = sync.OnceValue(func() *table.Cache { return table.NewCache(64 << 20) })

// open first opens the table in its most likely form. It reads the index and the filters again only if they and
// the keys show that the form is different.
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
	isKnown := o.Form != nil && o.Form.FileSize == f.Size // otherwise it is another table
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
	if f.FilterUnusable || f.Rewritten { // lookups must not check filters that would hide keys
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

// isIdentified reports whether the TailSum identifies a table of a set, so that opening it need not read data
// blocks. Over a network, each would take a request. Before Verify, small tables are read at once instead.
func (f *File) isIdentified(o Options) bool {
	return files.IsRemote(f.Path) && o.Line != nil && (o.ReadOnce == nil || f.Size > wholeFile)
}

// setSize sets the size of the table, and prepares Src. The file can be larger than the table.
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
		f.Size = int64(meta.Size) // engines ignore the rest of the file
	}
	f.Form.FileSize = f.Size
	f.ofDatabase = o.inDatabase() || o.InManifest() || IsInManifest(f.Path)
	if f.set = o.Set; o.Line != nil && f.Size != o.Line.Size {
		return Differs("size", f.Size, o.Line.Size)
	}
	if o.ReadOnce != nil {
		tail := int64(0)
		if o.Line != nil {
			tail = o.Line.TailSize
		}
		f.once = newReadOnce(f.Src, f.Size, tail, o.ReadOnce)
		f.Src = f.once
	}
	return nil
}

// newReader sets the Reader for the Form of the table.
func (f *File) newReader(o Options) (err error) {
	f.Options.Comparer, f.Options.IgnoreFilter = f.Comparer(), f.FilterUnusable || o.readsNoFilter()
	f.Reader, err = table.NewReader(f.Src, f.Size, f.Options)
	return err
}

// read returns the layout, and sets the Reader for the table's most likely form. If that fails, Reader is nil.
func (f *File) read(o Options) (*layout.Layout, error) {
	if f.newReader(o) == nil {
		if layout, err := f.Reader.Layout(); err == nil {
			return layout, nil
		}
	}
	f.Reader = nil
	return table.ReadLayout(f.Src, f.Size, f.Options)
}

// dropLayout frees the memory that grows with the file.
func (f *File) dropLayout() {
	isLarge := f.Layout.Index.Length > 1<<20
	f.Layout, f.filters.Blocks, f.filters.Table = nil, nil, nil
	if isLarge {
		runtime.GC() // before a Reader allocates as much
	}
}

// wholeFile is the maximum size of a table that is read at once.
const wholeFile = 4 << 20

// maxKept is the largest read that is kept until the check. Larger parts, such as the filter of a large table,
// are read twice: their memory would come on top of the check's.
const maxKept = 16 << 20

// A readOnce reads a table that will be checked completely. It keeps the reads of up to maxKept bytes that open
// the table, so that the check does not repeat them. It is not safe for concurrent use.
type readOnce struct {
	io.ReaderAt
	size     int64
	count    func(n int64) // called with the number of bytes of each read by the check
	kept     []extent      // each is dropped once the check has read it, unless it is the whole table
	checking bool
}

// An extent is a part of a file.
type extent struct {
	offset int64
	bytes  []byte
}

// newReadOnce returns a readOnce for the table of size bytes in r. tail is the likely number of bytes behind the
// data blocks, or 0 if unknown. If reading ahead fails, the error is returned by the reads of the parts that are
// needed.
func newReadOnce(r io.ReaderAt, size, tail int64, count func(int64)) *readOnce {
	o := &readOnce{ReaderAt: r, size: size, count: count}
	if size <= wholeFile {
		tail = size
	} else if tail > min(size, maxKept) {
		tail = 0
	}
	if p, err := ReadAt(r, size-tail, tail); err == nil {
		o.kept = append(o.kept, extent{size - tail, p})
	}
	return o
}

// ReadAt reads from memory, or from the file.
func (o *readOnce) ReadAt(p []byte, off int64) (int, error) {
	end := min(off+int64(len(p)), o.size)
	for i, e := range o.kept {
		if off < e.offset || off > end || end > e.offset+int64(len(e.bytes)) {
			continue
		}
		n, err := bytes.NewReader(e.bytes).ReadAt(p, off-e.offset)
		if o.checking && int64(len(e.bytes)) < o.size {
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
