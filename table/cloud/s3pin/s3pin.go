// Package s3pin ties reads and writes of a set to one version of each object in Amazon S3 and stores
// like it, for buckets of gocloud.dev/blob/s3blob.
package s3pin

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
)

// Pin is a pin of package cloud. The version of an object is its ETag, which later reads and writes
// require by If-Match.
type Pin struct{}

// Version returns the ETag of the object that r reads.
func (Pin) Version(r *blob.Reader) string {
	var out s3.GetObjectOutput
	if !r.As(&out) || out.ETag == nil {
		return ""
	}
	return *out.ETag
}

// Require makes a read or a write fail if the object has another ETag.
func (Pin) Require(etag string, as func(any) bool) {
	var read *s3.GetObjectInput
	if as(&read) {
		read.IfMatch = &etag
	}
	var write *transfermanager.UploadObjectInput
	if as(&write) {
		write.IfMatch = &etag
	}
}

// PastEnd reports whether the store answered that the range is not in the object.
func (Pin) PastEnd(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && refused.ErrorCode() == "InvalidRange"
}
