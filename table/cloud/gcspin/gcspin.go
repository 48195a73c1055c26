// Package gcspin restricts reads and writes to one version of each object in Google Cloud Storage, for buckets of
// gocloud.dev/blob/gcsblob.
package gcspin

import (
	"errors"
	"strconv"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob"
	"google.golang.org/api/googleapi"
)

// Pin implements Pin of package cloud. Versions are generations, required by ifGenerationMatch.
type Pin struct{}

// Version returns the generation of the object that r reads.
func (Pin) Version(r *blob.Reader) string {
	var object *storage.Reader
	if !r.As(&object) || object.Attrs.Generation == 0 {
		return ""
	}
	return strconv.FormatInt(object.Attrs.Generation, 10)
}

// Require makes a read or write fail unless the object has that generation.
func (Pin) Require(generation string, as func(any) bool) {
	n, err := strconv.ParseInt(generation, 10, 64)
	var object **storage.ObjectHandle
	if err == nil && as(&object) {
		*object = (*object).If(storage.Conditions{GenerationMatch: n})
	}
}

// Status returns the HTTP status of the response that err is about, or 0.
func (Pin) Status(err error) int {
	var response *googleapi.Error
	if !errors.As(err, &response) {
		return 0
	}
	return response.Code
}
