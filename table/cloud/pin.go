package cloud

import (
	"fmt"
	"time"

	"gocloud.dev/blob"
)

// A Pin ties the reads of a table to one version of its object, or a write to the version that it
// replaces. It is for one driver of gocloud.dev/blob: the packages s3pin and gcspin have one each. Its
// methods must be safe for concurrent use.
type Pin interface {
	// Version returns the version of the object that r reads, such as its ETag. It is empty if r is
	// of another driver, or if the store did not return one.
	Version(r *blob.Reader) string

	// Require makes a read or a write fail if the object has another version. as is that of BeforeRead
	// in [blob.ReaderOptions], or of BeforeWrite in [blob.WriterOptions]. With another driver, Require
	// changes nothing.
	Require(version string, as func(any) bool)

	// PastEnd reports whether err says that the store refused a read that begins at or behind the
	// end of the object.
	PastEnd(err error) bool
}

// An object is what the first read of a table tells about its object. Later reads must be of
// the same one.
type object struct {
	size     int64
	modified time.Time
	pin      Pin // that knows the version; nil: none does
	version  string
}

// objectOf returns what r tells about its object.
func objectOf(r *blob.Reader, pins []Pin) object {
	o := object{size: r.Size(), modified: r.ModTime()}
	for _, pin := range pins {
		if o.version = pin.Version(r); o.version != "" {
			o.pin = pin
			break
		}
	}
	return o
}

// String describes the object, for errors.
func (o *object) String() string {
	if o.version != "" {
		return fmt.Sprintf("%d bytes, version %s", o.size, o.version)
	}
	return fmt.Sprintf("%d bytes of %s", o.size, o.modified.UTC().Format(time.RFC3339Nano))
}

// same reports whether o and p are one version of an object. Without a Pin it goes by the time
// of modification.
func (o *object) same(p *object) bool {
	if o.size != p.size || o.version != p.version {
		return false
	}
	return o.version != "" || o.modified.Equal(p.modified)
}

// require makes a read or a write fail if the object has another version, if a Pin knows that.
func (o *object) require(as func(any) bool) error {
	if o.pin != nil {
		o.pin.Require(o.version, as)
	}
	return nil
}
