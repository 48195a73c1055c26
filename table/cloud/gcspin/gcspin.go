// Package gcspin ties reads and writes of a set to one version of each object in Google Cloud Storage,
// for buckets of gocloud.dev/blob/gcsblob.
package gcspin

import (
	"errors"
	"net/http"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"google.golang.org/api/googleapi"
)

// Pin is a pin of package cloud. The version of an object is its generation, which later reads and
// writes require by ifGenerationMatch.
type Pin struct{}

// Version returns the generation of the object that r reads.
func (Pin) Version(r *blob.Reader) string {
	var object *storage.Reader
	if !r.As(&object) || object.Attrs.Generation == 0 {
		return ""
	}
	return strconv.FormatInt(object.Attrs.Generation, 10)
}

// Require makes a read or a write fail if the object has another generation.
func (Pin) Require(generation string, as func(any) bool) {
	n, err := strconv.ParseInt(generation, 10, 64)
	var object **storage.ObjectHandle
	if err == nil && as(&object) {
		*object = (*object).If(storage.Conditions{GenerationMatch: n})
	}
}

// PastEnd reports whether the store answered that the range is not in the object.
func (Pin) PastEnd(err error) bool {
	var refused *googleapi.Error
	return errors.As(err, &refused) && refused.Code == http.StatusRequestedRangeNotSatisfiable
}
