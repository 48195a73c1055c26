// Package s3pin restricts reads and writes to one version of each object in Amazon S3 and compatible stores, for
// buckets of gocloud.dev/blob/s3blob.
package s3pin

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
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

// Status returns the HTTP status of the response that err is about, or 0.
func (Pin) Status(err error) int {
	var response *awshttp.ResponseError
	if !errors.As(err, &response) {
		return 0
	}
	return response.HTTPStatusCode()
}
