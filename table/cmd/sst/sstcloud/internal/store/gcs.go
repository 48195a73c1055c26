package store

import (
	"context"
	"net/http"
	"net/url"
	"os"

	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
)

// openGCS opens a bucket as its URL says, by a client that keeps connections and counts requests.
func openGCS(ctx context.Context, u *url.URL, s *Store) (*blob.Bucket, error) {
	if os.Getenv("STORAGE_EMULATOR_HOST") != "" { // for which the driver has a client of its own
		opener := &gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())}
		return opener.OpenBucketURL(ctx, u)
	}
	transport := newTransport(s)
	if q := u.Query(); q.Get("anonymous") == "true" {
		q.Del("anonymous") // else the driver has a client of its own too
		u.RawQuery = q.Encode()
		opener := &gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(transport)}
		return opener.OpenBucketURL(ctx, u)
	}
	credentials, err := gcp.DefaultCredentials(ctx)
	if err != nil {
		return nil, err
	}
	tokens := gcp.CredentialsTokenSource(credentials)
	client, err := gcp.NewHTTPClient(transport, tokens)
	if err != nil {
		return nil, err
	}
	return (&gcsblob.URLOpener{Client: client, TokenSource: tokens}).OpenBucketURL(ctx, u)
}

// newTransport returns a transport that keeps connections and counts the requests of a Store.
func newTransport(s *Store) http.RoundTripper {
	keeping := gcp.DefaultTransport().(*http.Transport).Clone()
	keeping.MaxIdleConnsPerHost = connections
	return s.count(keeping.RoundTrip)
}
