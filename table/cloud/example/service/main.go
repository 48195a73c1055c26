// Command service answers over HTTP whether a set in object storage has a key, and takes up a new list
// while it serves. Its bucket is one of S3, a store like it, or a directory.
//
//	cd table/cloud && GOWORK=off go run ./example/service -url 's3://urls?region=eu-central-1'
//
//	GET /lookup?key=KEY  200: the set has the key or, if it is a set of filters, may have it.
//	                     404: it has not. 503: that cannot be told now
//	GET /health          200: all tables have answers. 503: some have none, which it names
//	POST /reload         200: the manifest that is in the bucket now is in use, and no lookup reads a
//	                     table that only an older one has. 503: try again
//
// Nothing else is answered by 404, which says that a key is absent.
package main

import (
	"context"
	"errors"
	"flag"
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
	bucketURL = flag.String("url", "", "`URL` of the bucket, as gocloud.dev/blob has it")
	address   = flag.String("address", "localhost:8080", "`address` to serve at")
	timeout   = flag.Duration("timeout", 10*time.Second, "how long a lookup, and a request to the store, may take")
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
	if *bucketURL == "" || *timeout <= 0 {
		return errors.New("want -url, and -timeout > 0")
	}
	bucket, err := blob.OpenBucket(ctx, *bucketURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	s, err := openService(ctx, bucket, *timeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.set.Close()) }()
	l, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	log.Printf("serving at http://%s", l.Addr())
	return serve(ctx, l, s.handler())
}

// shutdownTime is how long requests may take that have come before the end.
const shutdownTime = 10 * time.Second

// serve answers requests until ctx is done, and then those that have come.
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
