// Reads packets as the server sends them: plain JSON, or deflated in base64.

/** Give a packet's JSON. */
export async function unpack(text) {
  if (text.startsWith('{')) return text;
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}
