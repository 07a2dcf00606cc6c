// SPDX-License-Identifier: Apache-2.0

// Package sdk runs flows of AWS's Go SDKs, unmodified, against a server at $ENDPOINT.
package sdk

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/dynamodb"
	"github.com/aws/aws-sdk-go/service/dynamodb/dynamodbattribute"
	"github.com/aws/aws-sdk-go/service/dynamodb/expression"
)

func newV1(t *testing.T) *dynamodb.DynamoDB {
	t.Helper()
	s, err := session.NewSession(aws.NewConfig().WithEndpoint(os.Getenv("ENDPOINT")))
	if err != nil {
		t.Fatal(err)
	}
	return dynamodb.New(s)
}

// composite makes a table with string keys pk and sk, and the given indexes.
func composite(t *testing.T, db *dynamodb.DynamoDB, indexes ...*dynamodb.GlobalSecondaryIndex) string {
	t.Helper()
	name := strings.NewReplacer("/", ".", "#", ".").Replace(t.Name())
	attributes := []string{"pk", "sk"}
	for _, index := range indexes {
		for _, key := range index.KeySchema {
			attributes = append(attributes, *key.AttributeName)
		}
	}
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: aws.String(dynamodb.BillingModePayPerRequest),
		KeySchema: []*dynamodb.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: aws.String("HASH")},
			{AttributeName: aws.String("sk"), KeyType: aws.String("RANGE")},
		},
		GlobalSecondaryIndexes: indexes,
	}
	for _, attribute := range attributes {
		input.AttributeDefinitions = append(input.AttributeDefinitions,
			&dynamodb.AttributeDefinition{AttributeName: aws.String(attribute), AttributeType: aws.String("S")})
	}
	if _, err := db.CreateTable(input); err != nil {
		t.Fatal(err)
	}
	if err := db.WaitUntilTableExists(&dynamodb.DescribeTableInput{TableName: &name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.DeleteTable(&dynamodb.DeleteTableInput{TableName: &name}); err != nil {
			t.Error(err)
		}
	})
	return name
}

type switchItem struct {
	PK        string    `dynamodbav:"pk"`
	SK        string    `dynamodbav:"sk"`
	State     bool      `dynamodbav:"state"`
	CreatedAt time.Time `dynamodbav:"created_at"`
}

// gatedToggle keeps a log and a latest item, as the post does: an update of the latest item under
// a condition, and a put in the log, in one transaction; a put of both when there is none yet.
type gatedToggle struct {
	t     *testing.T
	db    *dynamodb.DynamoDB
	table string
}

func (g gatedToggle) marshal(id, sk string, state bool, at time.Time) map[string]*dynamodb.AttributeValue {
	g.t.Helper()
	item, err := dynamodbattribute.MarshalMap(switchItem{PK: id, SK: sk, State: state, CreatedAt: at})
	if err != nil {
		g.t.Fatal(err)
	}
	return item
}

func (g gatedToggle) build(b expression.Builder) expression.Expression {
	g.t.Helper()
	e, err := b.Build()
	if err != nil {
		g.t.Fatal(err)
	}
	return e
}

// save answers whether the switch was taken, and which of the two transactions took it.
func (g gatedToggle) save(id string, state bool, at time.Time) (taken, first bool) {
	g.t.Helper()
	log := &dynamodb.TransactWriteItem{Put: &dynamodb.Put{
		TableName: &g.table, Item: g.marshal(id, "SWITCH#"+at.Format(time.RFC3339Nano), state, at)}}
	e := g.build(expression.NewBuilder().
		WithCondition(expression.LessThan(expression.Name("created_at"), expression.Value(at))).
		WithUpdate(expression.Set(expression.Name("created_at"), expression.Value(at)).
			Set(expression.Name("state"), expression.Value(state))))
	_, err := g.db.TransactWriteItems(&dynamodb.TransactWriteItemsInput{
		TransactItems: []*dynamodb.TransactWriteItem{{Update: &dynamodb.Update{
			TableName: &g.table,
			Key: map[string]*dynamodb.AttributeValue{
				"pk": {S: &id}, "sk": {S: aws.String("LATEST_SWITCH")}},
			ConditionExpression:                 e.Condition(),
			UpdateExpression:                    e.Update(),
			ExpressionAttributeNames:            e.Names(),
			ExpressionAttributeValues:           e.Values(),
			ReturnValuesOnConditionCheckFailure: aws.String("ALL_OLD"),
		}}, log},
	})
	if err == nil {
		return true, false
	}
	var cancelled *dynamodb.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		g.t.Fatal(err)
	}
	if code := aws.StringValue(cancelled.CancellationReasons[0].Code); code != "ConditionalCheckFailed" {
		g.t.Fatalf("reason %q", code)
	}
	if code := aws.StringValue(cancelled.CancellationReasons[1].Code); code != "None" {
		g.t.Fatalf("reason of the passing action: %q", code)
	}
	if len(cancelled.CancellationReasons[0].Item) > 0 {
		return false, false
	}
	e = g.build(expression.NewBuilder().WithCondition(expression.Not(expression.And(
		expression.Equal(expression.Name("pk"), expression.Value(id)),
		expression.Equal(expression.Name("sk"), expression.Value("LATEST_SWITCH"))))))
	_, err = g.db.TransactWriteItems(&dynamodb.TransactWriteItemsInput{
		TransactItems: []*dynamodb.TransactWriteItem{{Put: &dynamodb.Put{
			TableName:                 &g.table,
			Item:                      g.marshal(id, "LATEST_SWITCH", state, at),
			ConditionExpression:       e.Condition(),
			ExpressionAttributeNames:  e.Names(),
			ExpressionAttributeValues: e.Values(),
		}}, log},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return true, true
}

func (g gatedToggle) latest(id string) switchItem {
	g.t.Helper()
	out, err := g.db.GetItem(&dynamodb.GetItemInput{TableName: &g.table,
		Key: map[string]*dynamodb.AttributeValue{"pk": {S: &id}, "sk": {S: aws.String("LATEST_SWITCH")}}})
	if err != nil {
		g.t.Fatal(err)
	}
	var item switchItem
	if err := dynamodbattribute.UnmarshalMap(out.Item, &item); err != nil {
		g.t.Fatal(err)
	}
	return item
}

func TestToggleGoV1(t *testing.T) {
	db := newV1(t)
	now := time.Date(2020, 3, 1, 12, 30, 0, 123456789, time.UTC)
	t.Run("saves the first switch", func(t *testing.T) {
		toggle := gatedToggle{t, db, composite(t, db)}
		if taken, first := toggle.save("123", true, now); !taken || !first {
			t.Fatalf("taken %v, first %v", taken, first)
		}
		if got := toggle.latest("123"); !got.State || !got.CreatedAt.Equal(now) {
			t.Fatalf("%+v", got)
		}
	})
	t.Run("the newest switch wins", func(t *testing.T) {
		toggle := gatedToggle{t, db, composite(t, db)}
		toggle.save("123", true, now)
		if taken, first := toggle.save("123", false, now.Add(10*time.Second)); !taken || first {
			t.Fatalf("taken %v, first %v", taken, first)
		}
		if toggle.latest("123").State {
			t.Fatal("the older state is still there")
		}
	})
	t.Run("a late switch is dropped whole", func(t *testing.T) {
		toggle := gatedToggle{t, db, composite(t, db)}
		toggle.save("123", true, now)
		if taken, _ := toggle.save("123", false, now.Add(-10*time.Second)); taken {
			t.Fatal("a late switch was taken")
		}
		if !toggle.latest("123").State {
			t.Fatal("a late switch changed the state")
		}
		out, err := db.Query(&dynamodb.QueryInput{TableName: &toggle.table,
			KeyConditionExpression:    aws.String("pk = :id AND begins_with(sk, :log)"),
			ExpressionAttributeValues: map[string]*dynamodb.AttributeValue{":id": {S: aws.String("123")}, ":log": {S: aws.String("SWITCH#")}}})
		if err != nil || *out.Count != 1 {
			t.Fatalf("the log holds %v, %v", out, err)
		}
	})
}
