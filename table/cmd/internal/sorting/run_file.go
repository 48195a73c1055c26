package sorting

import (
	"github.com/lanrat/extsort/tempfile"
)

// A runFile is a temporary file of sorted runs. The zero value creates the file when it is
// needed.
type runFile struct {
	writer *tempfile.FileWriter
	reader tempfile.TempReader
}

func (f *runFile) create(dir string) (err error) {
	if f.writer == nil {
		if f.writer, err = tempfile.New(dir, true); err != nil {
			return temporaryFileError(err)
		}
	}
	return nil
}

// runs returns the runs of the file. Nothing is written after it.
func (f *runFile) runs() (all []*run, err error) {
	if f.writer == nil {
		return nil, nil
	}
	if f.reader, err = f.writer.Save(); err != nil {
		return nil, temporaryFileError(err)
	}
	for i := range f.reader.Size() {
		all = append(all, fromFile(f.reader.Read(i)))
	}
	return all, nil
}

// close removes the file.
func (f *runFile) close() error {
	if f.reader != nil {
		return f.reader.Close()
	}
	if f.writer != nil {
		return f.writer.Close()
	}
	return nil
}
