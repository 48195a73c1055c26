package table

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/atomicfile"
)

// Create returns a Writer of the file name, which appears there only when Close
// has written all of it to disk, in place of a file that may be there by then.
// Until then the table is in a temporary file in the same directory, called
// sievetable-….tmp: what a crash can leave behind, and what an error or Abort
// removes. If syncing the directory fails after the rename, the new file is
// removed, and a file that it replaced is gone. A symbolic link of that name stays, and
// what it leads to is replaced so. What is no regular file, such as a device, is not
// replaced, and neither is anything in /dev and /proc.
// The file's permissions are 0666 before umask.
//
//	w, err := table.Create("users.ldb", nil)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Close
//	… w.Append …
//	return w.Close()
func Create(name string, o *WriterOptions) (*Writer, error) {
	w, err := newWriter(o) // first: it leaves no file behind if a policy panics
	if err != nil {
		return nil, err
	}
	if w.file, err = atomicfile.Create(name); err != nil {
		return nil, wrap(err)
	}
	w.out.w = w.file
	return w, nil
}

// wrap marks an error of the operating system, which names the file itself.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table: %w", err)
}
