// SPDX-License-Identifier: Apache-2.0
// Calls the DynamoDB API of the server that served this page.
import {amzDate, makeSigner} from './sigv4.js';

const STREAMS = ['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'];
const REFUSALS = ['UnrecognizedClientException', 'InvalidSignatureException', 'MissingAuthenticationTokenException',
  'IncompleteSignatureException'];
const TYPE = 'application/x-amz-json-1.0';

export class ApiError extends Error {
  constructor(name, message, body) {
    super(message);
    this.name = name;
    this.body = body;
  }
}

let signer = null;
let askForKey = null;  // returns a promise of {accessKey, secret}, or null if the user declines
let asking = null;
let declined = false;  // automatic requests must not ask again
export const onKeyNeeded = (ask) => { askForKey = ask; };
export const mayAskForKey = () => { declined = false; };
export const signedInAs = () => signer?.accessKey ?? null;
export const forgetKey = () => { signer = null; };

export async function useKey(accessKey, secret) {
  const candidate = await makeSigner(accessKey, secret);
  await request('ListTables', {Limit: 1}, candidate);
  signer = candidate;
}

// Whether the server injects faults, as each response reports; null before the first response.
let testMode = null;
let showTestMode = () => {};
export const isTestMode = () => testMode;
export const onTestMode = (show) => { showTestMode = show; };

// Sends a request of the DynamoDB API, or of a page of the server. Resolves to {output, ms}.
async function exchange({method = 'POST', path = '/', query = '', headers = {}, body}, signal) {
  const begin = performance.now();
  let response;
  let text;
  try {
    response = await fetch(path + (query && `?${query}`), {method, headers, body, signal, credentials: 'omit', cache: 'no-store'});
    text = await response.text();
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('NetworkError', 'could not reach the server');
  }
  const ms = performance.now() - begin;
  testMode = response.headers.get('x-stator-test-mode') === 'on';
  showTestMode(testMode);
  let output;
  try { output = text ? JSON.parse(text) : {}; } catch { output = {message: text.slice(0, 500)}; }
  if (response.ok) return {output, ms};
  const name = (output.__type ?? `HTTP ${response.status}`).split('#').pop();
  throw new ApiError(name, output.message || output.Message || name, output);
}

async function request(operation, input, by, signal) {
  const body = JSON.stringify(input);
  const service = STREAMS.includes(operation) ? 'DynamoDBStreams_20120810' : 'DynamoDB_20120810';
  const date = amzDate();
  const headers = {'content-type': TYPE, 'x-amz-date': date, 'x-amz-target': `${service}.${operation}`};
  headers.authorization = by ? await by.authorization({...headers, host: location.host}, body) :
    `AWS4-HMAC-SHA256 Credential=console/${date.slice(0, 8)}/us-east-1/dynamodb/aws4_request, ` +
    'SignedHeaders=host;x-amz-date;x-amz-target, Signature=none';
  return exchange({headers, body}, signal);
}

async function page({method = 'GET', path, query = '', body}, by, signal) {
  const headers = body === undefined ? {} : {'content-type': 'application/json'};
  if (by) {
    headers['x-amz-date'] = amzDate();
    headers.authorization = await by.authorization({...headers, host: location.host}, body ?? '', {method, path, query});
  }
  return exchange({method, path, query, headers, body}, signal);
}

// Resolves to the result of `attempt(signer)`. Asks for a key if the server requires a signature.
async function withKey(attempt) {
  for (;;) {
    const used = signer;
    try {
      return await attempt(used);
    } catch (error) {
      if (!REFUSALS.includes(error.name) || !askForKey || declined) throw error;
      if (signer === used) {
        asking ??= askForKey(used ? error.message : '').finally(() => { asking = null; });
        if (!await asking) {
          declined = true;
          throw error;
        }
      }
    }
  }
}

// Resolves to {output, ms}.
export const send = (operation, input = {}, {signal} = {}) => withKey((by) => request(operation, input, by, signal));

// The JSON of a page of the server, for example get('/metrics/history', 'after=5').
export const get = async (path, query = '', {signal} = {}) => (await withKey((by) => page({path, query}, by, signal))).output;
export const put = async (path, body) => (await withKey((by) => page({method: 'PUT', path, body}, by))).output;

export const call = async (operation, input, options) => (await send(operation, input, options)).output;

// ---- Shared by several views

const described = new Map();  // by name, reused for 2 s: {at, promise}

export function describe(table, {fresh = false} = {}) {
  const known = described.get(table);
  if (!fresh && known && performance.now() - known.at < 2000) return known.promise;
  const promise = call('DescribeTable', {TableName: table}).then((output) => output.Table);
  described.set(table, {at: performance.now(), promise});
  promise.catch(() => described.delete(table));
  return promise;
}

// Calls `work` on each element, `width` at a time.
export async function inParallel(list, width, work) {
  let next = 0;
  await Promise.all(Array.from({length: Math.min(width, list.length)}, async () => {
    while (next < list.length) await work(list[next++]);
  }));
}

// Writes requests of one table in batches, repeating those that were not processed.
export async function batchWrite(table, requests, onProgress = () => {}, signal = undefined) {
  for (let i = 0, done = 0; i < requests.length; i += 25) {
    let rest = requests.slice(i, i + 25);
    for (let attempt = 0; rest.length; attempt++) {
      if (attempt) await new Promise((resolve) => { setTimeout(resolve, Math.min(50 * 2 ** attempt, 2000)); });
      const {UnprocessedItems} = await call('BatchWriteItem', {RequestItems: {[table]: rest}}, {signal});
      const left = UnprocessedItems?.[table] ?? [];
      done += rest.length - left.length;
      rest = left;
      onProgress(done);
    }
  }
}
