// Command service looks up keys of a set over HTTP and reloads the set without a restart. The set is in S3, in an
// S3-compatible store, or in a directory.
//
//	cd table/cloud && GOWORK=off go run ./example/service -url 's3://urls?region=eu-central-1'
//
//	GET /lookup?key=KEY  200: the key is present (in a set of filters: may be present)
//	                     404: the key is absent. No other request returns 404
//	                     503: the lookup failed
//	GET /health          200: all tables are available. 503: lists unavailable tables
//	POST /reload         200: the bucket's current manifest is in use, and tables that it does not list
//	                     can be deleted. 503: the previous manifest is still in use, or still being read
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // for file://
	_ "gocloud.dev/blob/s3blob"   // for s3://
)

var (
	bucketURL = flag.String("url", "", "`URL` of the bucket, such as s3://urls?region=eu-central-1")
	address   = flag.String("address", "localhost:8080", "`address` to listen on")
	timeout   = flag.Duration("timeout", 10*time.Second, "limit for each lookup and each request to the store")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx is done.
func run(ctx context.Context) (err error) {
	if *bucketURL == "" {
		return errors.New("missing -url: give the URL of a bucket, such as -url 's3://urls?region=eu-central-1'")
	}
	if *timeout <= 0 {
		return fmt.Errorf("-timeout is %v: give a positive duration, such as -timeout 10s", *timeout)
	}
	bucket, err := blob.OpenBucket(ctx, *bucketURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	s, err := openService(ctx, bucket, *timeout)
	if err != nil {
		return fmt.Errorf("%s: %w", *bucketURL, err)
	}
	defer func() { err = errors.Join(err, s.set.Close()) }()
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	log.Printf("serving on http://%s", l.Addr())
	return serve(ctx, l, s.handler())
}

// shutdownTime limits how long shutdown waits for requests in progress.
const shutdownTime = 10 * time.Second

// serve handles requests until ctx is done, then finishes those in progress.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	return server.Shutdown(ending)
}
