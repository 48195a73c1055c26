// Package s3pin restricts reads and writes to one version of each object in Amazon S3 and compatible stores, for
// buckets of gocloud.dev/blob/s3blob.
package s3pin

import (
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
)

// Pin implements Pin of package cloud. Versions are ETags, required by If-Match.
type Pin struct{}

// Version returns the ETag of the object that r reads.
func (Pin) Version(r *blob.Reader) string {
	var out s3.GetObjectOutput
	if !r.As(&out) || out.ETag == nil {
		return ""
	}
	return *out.ETag
}

// Require makes a read or write fail unless the object has that ETag; "" stands for any. It also turns off the SDK's
// checksum validation for reads: for a part of an object, some stores send the checksum of the whole object.
func (Pin) Require(etag string, as func(any) bool) {
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) {
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		})
	}
	if etag == "" {
		return
	}
	var read *s3.GetObjectInput
	if as(&read) {
		read.IfMatch = &etag
	}
	var write *transfermanager.UploadObjectInput
	if as(&write) {
		write.IfMatch = &etag
	}
}

// PastEnd reports whether the store refused a range past the end of the object.
func (Pin) PastEnd(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && refused.ErrorCode() == "InvalidRange"
}

// Conflict reports whether the store refused a write with status 409, such as ConditionalRequestConflict.
func (Pin) Conflict(err error) bool {
	var refused *awshttp.ResponseError
	return errors.As(err, &refused) && refused.HTTPStatusCode() == http.StatusConflict
}
