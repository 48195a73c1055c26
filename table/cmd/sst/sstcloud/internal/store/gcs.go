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
	var opener gcsblob.URLOpener
	switch q := u.Query(); {
	case os.Getenv("STORAGE_EMULATOR_HOST") != "": // for emulators, the driver creates its own client
		opener.Client = gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
	case q.Get("anonymous") == "true":
		q.Del("anonymous") // otherwise the driver would create its own client
		u.RawQuery = q.Encode()
		opener.Client = gcp.NewAnonymousHTTPClient(newTransport(s))
	default:
		credentials, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return nil, err
		}
		opener.TokenSource = gcp.CredentialsTokenSource(credentials)
		if opener.Client, err = gcp.NewHTTPClient(newTransport(s), opener.TokenSource); err != nil {
			return nil, err
		}
	}
	return opener.OpenBucketURL(ctx, u)
}

// newTransport returns a transport that keeps connections and counts a Store's requests.
func newTransport(s *Store) http.RoundTripper {
	keeping := gcp.DefaultTransport().(*http.Transport).Clone()
	keeping.MaxIdleConnsPerHost = connections
	return s.count(keeping.RoundTrip)
}
