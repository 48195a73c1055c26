package cloud_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // for file://
	"gocloud.dev/blob/s3blob"     // for s3://

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/set"
)

// A set of two tables, sent to the bucket that a URL names and asked there. The same program
// does it with the URL of a bucket in S3.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	bucket, err := blob.OpenBucket(ctx, "file://"+filepath.ToSlash(dir)+"?no_tmp_dir=true&metadata=skip")
	check(err)
	defer bucket.Close()

	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
	m := new(set.Manifest)
	for _, capitals := range []map[string]string{
		{"Cuba": "Havana", "Kenya": "Nairobi"},
		{"Norway": "Oslo", "Peru": "Lima"},
	} {
		t, err := cloud.Put(ctx, bucket, o, sorted(capitals))
		check(err)
		m.Tables = append(m.Tables, t)
	}
	check(cloud.WriteManifest(ctx, bucket, set.ManifestName, m)) // when all tables are there

	m, err = cloud.ReadManifest(ctx, bucket, set.ManifestName)
	check(err)
	s, err := set.Open(ctx, m, cloud.NewSource(bucket, s3pin.Pin{}), nil)
	check(err)
	defer s.Close()
	capital, err := s.Get(ctx, []byte("Peru"))
	fmt.Printf("%s, %v\n", capital, err)
	_, err = s.Get(ctx, []byte("Atlantis"))
	fmt.Println(err)
	// Output:
	// Lima, <nil>
	// table: key not found
}

// sorted yields the entries of m in the order of their keys.
func sorted(m map[string]string) func(yield func(key, value []byte) bool) {
	return func(yield func(key, value []byte) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield([]byte(key), []byte(m[key])) {
				return
			}
		}
	}
}

// A client of one's own has a connection for each lookup at a time. The SDK's keeps 10, and
// opens one anew for each other lookup.
func ExampleNewSource() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	check(err)
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 256 })
	bucket, err := s3blob.OpenBucket(ctx, s3.NewFromConfig(cfg), "tables", nil)
	check(err)
	defer bucket.Close()

	m, err := cloud.ReadManifest(ctx, bucket, set.ManifestName)
	check(err)
	s, err := set.Open(ctx, m, cloud.NewSource(bucket, s3pin.Pin{}), nil)
	check(err)
	defer s.Close()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
