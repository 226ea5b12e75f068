// Unpacks what an exported race holds and runs its scripts. A plain script that is written into the file; the
// file's policy knows the hash of what it unpacks.
(async () => {
  const packed = document.getElementById('sv-file-data').textContent;
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  const { script, ...race } = JSON.parse(await new Response(stream).text());
  window.specvizFile = race;
  const element = document.createElement('script');
  element.textContent = script;
  document.body.append(element);
})();
