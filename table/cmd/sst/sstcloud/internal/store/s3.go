package store

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// openS3 opens a bucket by URL, with a client that keeps connections and counts requests.
func openS3(ctx context.Context, u *url.URL, s *Store) (*blob.Bucket, error) {
	opener := &s3blob.URLOpener{}
	bucket, err := opener.OpenBucketURL(ctx, u)
	if err != nil {
		return nil, err
	}
	defer bucket.Close() // only its options are used
	var client *s3.Client
	if !bucket.As(&client) {
		return nil, errors.New("the driver has no S3 client")
	}
	o := client.Options()
	if o.Region == "" && !u.Query().Has("endpoint") { // the SDK then says only that the region is not valid
		return nil, cli.UsageErrorf("missing region: add region=REGION to the URL, or set AWS_REGION")
	}
	if b, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
		o.HTTPClient = b.WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = connections })
	}
	o.HTTPClient = s.count(o.HTTPClient.Do)
	return s3blob.OpenBucket(ctx, s3.New(o), u.Host, &opener.Options)
}
