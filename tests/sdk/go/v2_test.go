// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type film struct {
	Title string   `dynamodbav:"title"`
	Year  int      `dynamodbav:"year"`
	Tags  []string `dynamodbav:"tags,stringset,omitempty"`
	Info  struct {
		Rating float64 `dynamodbav:"rating"`
		Cast   []string
	} `dynamodbav:"info"`
}

func newV2(t *testing.T) *dynamodb.Client {
	t.Helper()
	c, err := config.LoadDefaultConfig(context.TODO())
	if err != nil {
		t.Fatal(err)
	}
	return dynamodb.NewFromConfig(c, func(o *dynamodb.Options) {
		o.EndpointResolver = dynamodb.EndpointResolverFromURL(os.Getenv("ENDPOINT"))
	})
}

func films(t *testing.T, db *dynamodb.Client) *string {
	t.Helper()
	name := aws.String(t.Name())
	_, err := db.CreateTable(context.TODO(), &dynamodb.CreateTableInput{TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("year"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("title"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("year"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("title"), KeyType: types.KeyTypeRange}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.DeleteTable(context.TODO(), &dynamodb.DeleteTableInput{TableName: name}); err != nil {
			t.Error(err)
		}
	})
	return name
}

func TestGoV2KeepsAndUpdatesStructs(t *testing.T) {
	db, ctx := newV2(t), context.TODO()
	table := films(t, db)
	in := film{Title: "The Trial", Year: 1962, Tags: []string{"drama", "noir"}}
	in.Info.Rating, in.Info.Cast = 7.6, []string{"Perkins", "Moreau"}
	item, err := attributevalue.MarshalMap(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item}); err != nil {
		t.Fatal(err)
	}
	e, err := expression.NewBuilder().
		WithUpdate(expression.Add(expression.Name("info.rating"), expression.Value(0.1)).
			Set(expression.Name("info.Cast"), expression.ListAppend(expression.Name("info.Cast"), expression.Value([]string{"Welles"}))).
			Remove(expression.Name("tags"))).
		WithCondition(expression.Contains(expression.Name("tags"), "noir").And(expression.Size(expression.Name("title")).GreaterThan(expression.Value(3)))).
		Build()
	if err != nil {
		t.Fatal(err)
	}
	out, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table,
		Key:              map[string]types.AttributeValue{"year": item["year"], "title": item["title"]},
		UpdateExpression: e.Update(), ConditionExpression: e.Condition(),
		ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values(), ReturnValues: types.ReturnValueAllNew})
	if err != nil {
		t.Fatal(err)
	}
	var got film
	if err := attributevalue.UnmarshalMap(out.Attributes, &got); err != nil {
		t.Fatal(err)
	}
	if got.Info.Rating != 7.7 || fmt.Sprint(got.Info.Cast) != "[Perkins Moreau Welles]" || got.Tags != nil {
		t.Fatalf("%+v", got)
	}
}

func TestGoV2PaginatesQueries(t *testing.T) {
	db, ctx := newV2(t), context.TODO()
	table := films(t, db)
	for batch := 0; batch < 4; batch++ {
		var writes []types.WriteRequest
		for i := 0; i < 25; i++ {
			item, err := attributevalue.MarshalMap(film{Title: fmt.Sprintf("%03d", batch*25+i), Year: 2000})
			if err != nil {
				t.Fatal(err)
			}
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
		}
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*table: writes}})
		if err != nil || len(out.UnprocessedItems) != 0 {
			t.Fatalf("%v %v", out, err)
		}
	}
	e, err := expression.NewBuilder().WithKeyCondition(
		expression.Key("year").Equal(expression.Value(2000)).And(expression.Key("title").Between(expression.Value("010"), expression.Value("089")))).
		WithProjection(expression.NamesList(expression.Name("title"))).Build()
	if err != nil {
		t.Fatal(err)
	}
	pages := dynamodb.NewQueryPaginator(db, &dynamodb.QueryInput{TableName: table, Limit: aws.Int32(7), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: e.KeyCondition(), ProjectionExpression: e.Projection(),
		ExpressionAttributeNames: e.Names(), ExpressionAttributeValues: e.Values()})
	want := 89
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range page.Items {
			var got film
			if err := attributevalue.UnmarshalMap(item, &got); err != nil || len(item) != 1 || got.Title != fmt.Sprintf("%03d", want) {
				t.Fatalf("want %d, got %v %v", want, item, err)
			}
			want--
		}
	}
	if want != 9 {
		t.Fatalf("ended before %d", want)
	}
}

func TestGoV2OneWinnerAmongConcurrentPuts(t *testing.T) {
	db, ctx := newV2(t), context.TODO()
	table := films(t, db)
	for round := 0; round < 20; round++ {
		item, err := attributevalue.MarshalMap(film{Title: "first", Year: round})
		if err != nil {
			t.Fatal(err)
		}
		var winners int32
		var wait sync.WaitGroup
		for i := 0; i < 16; i++ {
			wait.Add(1)
			go func() {
				defer wait.Done()
				_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item,
					ConditionExpression: aws.String("attribute_not_exists (title)")})
				var failed *types.ConditionalCheckFailedException
				if err == nil {
					atomic.AddInt32(&winners, 1)
				} else if !errors.As(err, &failed) {
					t.Error(err)
				}
			}()
		}
		wait.Wait()
		if winners != 1 {
			t.Fatalf("round %d has %d winners", round, winners)
		}
	}
}
