// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4 with WebCrypto. The secret becomes a key that cannot be exported.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

const HMAC = {name: 'HMAC', hash: 'SHA-256'};
const bytes = (text) => new TextEncoder().encode(text);
const hex = (buffer) => [...new Uint8Array(buffer)].map((b) => b.toString(16).padStart(2, '0')).join('');
const importKey = (raw) => crypto.subtle.importKey('raw', raw, HMAC, false, ['sign']);

async function hmac(key, text) {
  return crypto.subtle.sign('HMAC', key, bytes(text));
}

export async function sha256(text) {
  return hex(await crypto.subtle.digest('SHA-256', bytes(text)));
}

// Whether this page can sign: browsers offer WebCrypto only on https and on this machine.
export const canSign = () => globalThis.crypto?.subtle !== undefined;

export async function makeSigner(accessKey, secret, region = 'us-east-1', service = 'dynamodb') {
  const root = await importKey(bytes(`AWS4${secret}`));
  let derived = {day: '', key: null};
  async function keyOf(day) {
    if (derived.day === day) return derived.key;
    let key = root;
    for (const part of [day, region, service, 'aws4_request']) key = await importKey(await hmac(key, part));
    derived = {day, key};
    return key;
  }
  return {
    accessKey,
    // The value of Authorization. `headers` by lower-case name include host and x-amz-date.
    async authorization(headers, body, {method = 'POST', path = '/', query = ''} = {}) {
      const names = Object.keys(headers).sort();
      const time = headers['x-amz-date'];
      const day = time.slice(0, 8);
      const canonical = [method, path, query, ...names.map((n) => `${n}:${headers[n].trim().replace(/ +/g, ' ')}`), '',
        names.join(';'), await sha256(body)].join('\n');
      const scope = `${day}/${region}/${service}/aws4_request`;
      const toSign = ['AWS4-HMAC-SHA256', time, scope, await sha256(canonical)].join('\n');
      const signature = hex(await hmac(await keyOf(day), toSign));
      return `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names.join(';')}, ` +
        `Signature=${signature}`;
    },
  };
}

export const amzDate = (now = new Date()) => now.toISOString().replace(/[-:]|\.\d+/g, '');
