// A packet's JSON as it comes over the wire: plain, or deflated in base64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { unpack } from '../../assets/js/wire/packets.js';

test('a short packet is read as it is', async () => {
  assert.equal(await unpack('{"seq":1}'), '{"seq":1}');
});

test('a long one is inflated, letters of every script included', async () => {
  const text = JSON.stringify({ text: 'žluť 漢字 🏁 '.repeat(200) });
  assert.equal(await unpack(deflateSync(text).toString('base64')), text);
});

test('a broken one fails, so that it is asked for again and holds up no other', async () => {
  const packed = deflateSync('{"a":"' + 'b'.repeat(900) + '"}').toString('base64');
  await assert.rejects(unpack(packed.slice(0, 12) + 'AAAA'));
});
