package cloud_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// A proxy stands before the S3 server. It counts the requests, and can spoil them.
type proxy struct {
	url string

	mu       sync.Mutex
	requests map[string]int // of each method
	fault    fault          // nil: none
}

// A fault answers a request in place of the server, which it can ask.
type fault func(w http.ResponseWriter, r *http.Request, server http.Handler)

// newProxy starts a proxy. The test's end ends it.
func newProxy(t testing.TB) *proxy {
	t.Helper()
	server, err := url.Parse(s3Server())
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{requests: map[string]int{}}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(server) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests[r.Method]++
		fault := p.fault
		p.mu.Unlock()
		if fault == nil {
			forward.ServeHTTP(w, r)
		} else {
			fault(w, r, forward)
		}
	}))
	t.Cleanup(front.Close)
	p.url = front.URL
	return p
}

// spoil lets f answer all requests from now on.
func (p *proxy) spoil(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// count returns how many requests of the method came since the last call.
func (p *proxy) count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.requests[method]
	p.requests[method] = 0
	return n
}

// bucket returns a bucket behind the proxy that has the test's name and is empty.
func (p *proxy) bucket(t testing.TB) *blob.Bucket { return openS3(t, p.url) }

// openS3 opens the bucket of the test's name on a server. Its client waits for a millisecond at most
// before it sends a request again, and sends it three times.
func openS3(t testing.TB, server string) *blob.Bucket {
	t.Helper()
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) { tr.MaxIdleConnsPerHost = 64 })
	client := s3.New(s3.Options{
		BaseEndpoint: &server,
		UsePathStyle: true,
		Region:       "us-east-1",
		HTTPClient:   transport,
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:      retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond }),
	})
	bucket, err := s3blob.OpenBucket(context.Background(), client, bucketName(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bucket.Close() })
	return bucket
}
