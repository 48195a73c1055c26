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

// openGCS opens a bucket by URL, with a client that keeps connections and counts requests.
func openGCS(ctx context.Context, u *url.URL, s *Store) (*blob.Bucket, error) {
	if os.Getenv("STORAGE_EMULATOR_HOST") != "" { // for emulators, the driver creates its own client
		opener := &gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())}
		return opener.OpenBucketURL(ctx, u)
	}
	transport := newTransport(s)
	if q := u.Query(); q.Get("anonymous") == "true" {
		q.Del("anonymous") // otherwise the driver would create its own client
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

// newTransport returns a transport that keeps connections and counts a Store's requests.
func newTransport(s *Store) http.RoundTripper {
	keeping := gcp.DefaultTransport().(*http.Transport).Clone()
	keeping.MaxIdleConnsPerHost = connections
	return s.count(keeping.RoundTrip)
}
