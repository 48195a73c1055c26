package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"

	"github.com/sievetable/sievetable/internal/openfiles"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablefilter"
	"github.com/sievetable/sievetable/table/codecs"
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
	f, err := openRegular(path, o.Outputs)
	if s, found := standInOf(path, nil, err); found {
		return nil, &FileError{path, s.inPlaceOfTable(o.InDatabase || IsInManifest(path))}
	}
	if err != nil {
		return nil, err
	}
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

// openFiles are the files of all Files, which can be more than the process may have open.
var openFiles = openfiles.New(regular.MaxOpenFiles(), func(path string) (regular.File, fs.FileInfo, error) { return regular.Open(path) }, replacedError)

// replacedError is the error for a file that another one has replaced since it was opened, and so does not exist.
func replacedError(path string) error {
	return &FileError{path, fmt.Errorf("another file has this name since it was opened: %w", fs.ErrNotExist)}
}

// openRegular opens a regular file that is not an output.
func openRegular(path string, outputs output.Files) (*File, error) {
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

// open opens the table as one of internal keys if it most likely is, so that its index and its filters
// are read once, and again only if what they and the keys say is different.
func (f *File) open(o Options) error {
	if err := f.setSize(o); err != nil {
		return err
	}
	f.Metrics = new(table.Metrics)
	f.Options = &table.ReaderOptions{Codecs: codecs.All(), TableFilterPolicies: tablefilter.Policies(), Metrics: f.Metrics, MaxBlockSize: o.MaxBlock, IgnoreFilter: o.readsNoFilter()}
	f.declareOrder(o.Order)
	f.Internal = o.InManifest || o.InternalKeys == Yes
	if o.form.isOf(f) {
		f.setForm(o.form)
		f.Options.IgnoreFilter = f.FilterUnusable || o.readsNoFilter()
	}
	likely := f.interpretation()
	r, layout, err := f.readIndex()
	if err != nil {
		return err
	}
	if err := checkTailSum(layout, o.Line); err != nil {
		return err
	}
	f.Layout, f.Empty = layout, len(layout.Data) == 0
	if err := f.detect(r, o); err != nil {
		return err
	}
	if f.Options.Comparer = f.Comparer(); r == nil || f.interpretation() != likely {
		f.Options.IgnoreFilter = f.FilterUnusable || o.readsNoFilter()
		if r, err = table.NewReader(f.Src, f.Size, f.Options); err != nil {
			return err
		}
	}
	f.inDatabase = f.Internal && (o.InDatabase || o.InManifest || IsInManifest(f.Path))
	if f.Reader = r; o.Line == nil {
		return nil
	}
	return f.checkEnds(o.Line)
}

// setSize sets the size of the table, which the file can exceed.
func (f *File) setSize(o Options) error {
	if o.WrapReader != nil {
		f.Src = o.WrapReader(f.Src)
	}
	if o.Size > 0 && o.Size < f.Size && hasMagicAt(f.Src, o.Size) {
		f.Size = o.Size
	}
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

// An interpretation is what a Reader of the table depends on.
type interpretation struct {
	internal, noFilter bool
	order              table.Comparer // of user keys
}

func (f *File) interpretation() interpretation {
	return interpretation{f.Internal && !f.Rewritten, f.FilterUnusable, f.Order}
}

// readIndex returns the layout, and a Reader of the table as it most likely is, unless there can be
// none.
func (f *File) readIndex() (*table.Reader, *table.Layout, error) {
	f.Options.Comparer = f.Comparer()
	if r, err := table.NewReader(f.Src, f.Size, f.Options); err == nil {
		if layout, err := r.Layout(); err == nil {
			return r, layout, nil
		}
	}
	layout, err := table.ReadLayout(f.Src, f.Size, f.Options)
	return nil, layout, err
}

// detect finds out what the keys are, and their order, unless that is known. r may be nil.
func (f *File) detect(r *table.Reader, o Options) error {
	f.filters = filtersOf(r, f.Layout, o)
	if o.form.isOf(f) {
		f.leaveOutFilters()
	} else if err := f.detectForm(o); err != nil {
		return err
	}
	if !o.ScanOnly {
		return nil
	}
	large := f.Layout.Index.Length > 1<<20
	f.Layout, f.filters.Blocks, f.filters.Table = nil, nil, nil
	if large {
		runtime.GC() // free them before a Reader allocates as much
	}
	return nil
}
