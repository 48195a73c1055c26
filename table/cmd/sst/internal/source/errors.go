package source

// A FileError names the file that an error is about.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error without the file.
func (e *FileError) Unwrap() error { return e.Err }
