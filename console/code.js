// SPDX-License-Identifier: Apache-2.0
// A request as a command or a program in other languages.
import {typeOf} from './values.js';

export const LANGUAGES = [['cli', 'AWS CLI'], ['python', 'boto3'], ['javascript', 'JavaScript'], ['go', 'Go'], ['cpp', 'C++'],
  ['partiql', 'PartiQL']];
const snake = (name, joint) => name.replace(/[a-z](?=[A-Z])/g, (c) => `${c}${joint}`).toLowerCase();
const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const isValue = (v) => v !== null && typeof v === 'object' && !Array.isArray(v) && Object.keys(v).length === 1 &&
  ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'].includes(Object.keys(v)[0]);
const VALUES = ['ExpressionAttributeValues', 'ExclusiveStartKey'];  // members that map names to values

function cli(operation, input, endpoint) {
  const lines = [`aws dynamodb ${snake(operation, '-')}`, `--endpoint-url ${shell(endpoint)}`, '--region us-east-1'];
  // Otherwise, the CLI reads all pages and uses Limit as the page size.
  if (operation === 'Query' || operation === 'Scan') lines.push('--no-paginate');
  for (const [name, value] of Object.entries(input)) {
    const option = `--${snake(name, '-')}`;
    if (value === true) lines.push(option);
    else if (value === false) lines.push(`--no-${option.slice(2)}`);
    else lines.push(`${option} ${typeof value === 'number' ? value : shell(typeof value === 'string' ? value : JSON.stringify(value))}`);
  }
  return lines.join(' \\\n  ');
}

// Literals of languages whose syntax resembles JSON. `bytes(base64)` prints binary values.
function nested(value, style, indent, inItem = false) {
  const inner = `${indent}${style.step}`;
  if (value === true || value === false) return style[value];
  if (value === null || typeof value !== 'object') return style.text ? style.text(value) : JSON.stringify(value);
  if (Array.isArray(value)) {
    return value.length ? `[${value.map((v) => nested(v, style, indent, inItem)).join(', ')}]` : '[]';
  }
  if (inItem && isValue(value)) {
    const type = typeOf(value);
    const content = type === 'B' ? style.bytes(value.B) : type === 'BS' ? `[${value.BS.map(style.bytes).join(', ')}]` :
      nested(value[type], style, indent, type === 'L' || type === 'M');
    return `{${style.key(type)}: ${content}}`;
  }
  const entries = Object.entries(value);
  if (!entries.length) return '{}';
  return `{\n${entries.map(([k, v]) =>
    `${inner}${style.key(k)}: ${nested(v, style, inner, inItem || VALUES.includes(k) || k === 'Parameters')},\n`).join('')}${indent}}`;
}

function python(operation, input, endpoint) {
  const style = {step: '    ', true: 'True', false: 'False', key: JSON.stringify, bytes: (b) => `base64.b64decode(${JSON.stringify(b)})`};
  const body = nested(input, style, '');
  return `${body.includes('base64.') ? 'import base64\n\n' : ''}import boto3

client = boto3.client("dynamodb", endpoint_url=${JSON.stringify(endpoint)}, region_name="us-east-1")
response = client.${snake(operation, '_')}(**${body})
print(response["Items"])
`;
}

function javascript(operation, input, endpoint) {
  const key = (k) => (/^[A-Za-z_$][\w$]*$/.test(k) ? k : JSON.stringify(k));
  const style = {step: '  ', true: 'true', false: 'false', key, bytes: (b) => `Buffer.from(${JSON.stringify(b)}, "base64")`};
  return `import {DynamoDBClient, ${operation}Command} from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({endpoint: ${JSON.stringify(endpoint)}, region: "us-east-1"});
const response = await client.send(new ${operation}Command(${nested(input, style, '')}));
console.log(response.Items);
`;
}

function goText(text) {
  return /[\u0000-\u001f\u007f"\\]/.test(text) ? (text.includes('`') || /[\u0000-\u0008\r\u000b-\u001f]/.test(text) ?
    JSON.stringify(text) : `\`${text}\``) : `"${text}"`;
}

function goValue(value) {
  const type = typeOf(value);
  const inner = value[type];
  const bytes = (b) => `[]byte{${[...atob(b)].map((c) => c.charCodeAt(0)).join(', ')}}`;
  const content = {
    S: () => goText(inner), N: () => goText(inner), BOOL: () => String(inner), NULL: () => 'true', B: () => bytes(inner),
    SS: () => `[]string{${inner.map(goText).join(', ')}}`, NS: () => `[]string{${inner.map(goText).join(', ')}}`,
    BS: () => `[][]byte{${inner.map(bytes).join(', ')}}`,
    L: () => `[]types.AttributeValue{${inner.map(goValue).join(', ')}}`,
    M: () => goItem(inner),
  }[type]();
  return `&types.AttributeValueMember${type}{Value: ${content}}`;
}
const goItem = (item) => `map[string]types.AttributeValue{${Object.entries(item).map(([k, v]) => `${goText(k)}: ${goValue(v)}`).join(', ')}}`;

function go(operation, input, endpoint) {
  const lines = Object.entries(input).map(([name, value]) => {
    const printed = VALUES.includes(name) ? goItem(value) :
      name === 'Parameters' ? `[]types.AttributeValue{${value.map(goValue).join(', ')}}` :
      name === 'ReturnConsumedCapacity' ? `types.ReturnConsumedCapacity(${goText(value)})` :
      typeof value === 'boolean' ? (['ScanIndexForward', 'ConsistentRead'].includes(name) ? `aws.Bool(${value})` : String(value)) :
      typeof value === 'number' ? `aws.Int32(${value})` : typeof value === 'string' ? `aws.String(${goText(value)})` :
      `map[string]string{${Object.entries(value).map(([k, v]) => `${goText(k)}: ${goText(v)}`).join(', ')}}`;
    return `\t\t${name}: ${printed},\n`;
  }).join('');
  const typed = lines.includes('types.');
  return `package main

import (
\t"context"
\t"fmt"
\t"log"

\t"github.com/aws/aws-sdk-go-v2/aws"
\t"github.com/aws/aws-sdk-go-v2/config"
\t"github.com/aws/aws-sdk-go-v2/service/dynamodb"
${typed ? '\t"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"\n' : ''})

func main() {
\tctx := context.Background()
\tcfg, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"))
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tclient := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(${goText(endpoint)}) })
\toutput, err := client.${operation}(ctx, &dynamodb.${operation}Input{
${lines}\t})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfmt.Println(output.Items)
}
`;
}

function cpp(operation, input, endpoint) {
  const json = JSON.stringify(input, null, 2);
  let mark = 'json';
  while (json.includes(`)${mark}"`)) mark += 'x';
  return `#include <iostream>

#include "stator/http_client.h"

int main() {
  auto client = stator::HttpClient::open({.endpoint = ${JSON.stringify(endpoint)}});
  if (!client) return std::cerr << client.error().message << '\\n', 1;
  auto response = client->call("${operation}", R"${mark}(${json.replaceAll('\n', '\n  ')})${mark}");
  if (!response) return std::cerr << response.error().message << '\\n', 1;
  std::cout << *response << '\\n';
}
`;
}

// `statement`: {statement, parameters} of PartiQL.
export function showAs(language, operation, input, endpoint, statement) {
  const shown = {...input};
  delete shown.ReturnConsumedCapacity;
  switch (language) {
    case 'cli': return cli(operation, shown, endpoint);
    case 'python': return python(operation, shown, endpoint);
    case 'javascript': return javascript(operation, shown, endpoint);
    case 'go': return go(operation, shown, endpoint);
    case 'cpp': return cpp(operation, shown, endpoint);
    default: return statement.statement + (statement.parameters.length ? `\n-- Parameters: ${JSON.stringify(statement.parameters)}` : '');
  }
}
