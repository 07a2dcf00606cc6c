// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodbstreams/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const writesOfEachItem = 12

type counted struct {
	Name string `dynamodbav:"name"`
	N    int    `dynamodbav:"n"`
}

// Reads a shard from its beginning until nothing more comes.
func consume(ctx context.Context, streams *dynamodbstreams.Client, arn *string, shard streamtypes.Shard) ([]streamtypes.Record, error) {
	at, err := streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: arn,
		ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon})
	if err != nil {
		return nil, err
	}
	var records []streamtypes.Record
	for next := at.ShardIterator; next != nil; {
		page, err := streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: next, Limit: aws.Int32(5)})
		if err != nil {
			return nil, err
		}
		if len(page.Records) == 0 {
			break
		}
		records, next = append(records, page.Records...), page.NextShardIterator
	}
	return records, nil
}

// As consumers do: the shards side by side, each item's changes in one of them, in order.
func TestGoV2ConsumesShardsSideBySide(t *testing.T) {
	db, ctx := newV2(t), context.TODO()
	name := aws.String(t.Name())
	created, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("name"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("name"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: name}); err != nil {
			t.Error(err)
		}
	})
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for n := 1; n <= writesOfEachItem; n++ {
		for _, key := range names {
			if _, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name,
				Key:                       map[string]types.AttributeValue{"name": &types.AttributeValueMemberS{Value: key}},
				UpdateExpression:          aws.String("ADD n :one"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		t.Fatal(err)
	}
	streams := dynamodbstreams.NewFromConfig(c, func(o *dynamodbstreams.Options) {
		o.EndpointResolver = dynamodbstreams.EndpointResolverFromURL(os.Getenv("ENDPOINT"))
	})
	arn := created.TableDescription.LatestStreamArn
	described, err := streams.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	shards := described.StreamDescription.Shards
	if len(shards) < 2 {
		t.Fatalf("%d shards", len(shards))
	}
	perShard := make([]map[string][]int, len(shards))
	var workers sync.WaitGroup
	for i, shard := range shards {
		workers.Add(1)
		go func(i int, shard streamtypes.Shard) {
			defer workers.Done()
			perShard[i] = map[string][]int{}
			records, err := consume(ctx, streams, arn, shard)
			if err != nil {
				t.Error(err)
			}
			for _, record := range records {
				var image counted
				if err := attributevalue.UnmarshalMap(record.Dynamodb.NewImage, &image); err != nil {
					t.Error(err)
				}
				perShard[i][image.Name] = append(perShard[i][image.Name], image.N)
			}
		}(i, shard)
	}
	workers.Wait()
	var want []int
	for n := 1; n <= writesOfEachItem; n++ {
		want = append(want, n)
	}
	found := 0
	for _, items := range perShard {
		for key, got := range items {
			found++
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v", key, got)
			}
		}
	}
	if found != len(names) {
		t.Errorf("%d items, not %d", found, len(names))
	}
}
