/* Keeps the files that all pages of a worker share, and the page that is shown while the server cannot be reached. It keeps
   no page with work: answers are kept by the page itself. */

const KEPT = self.location.search; // a version of the files
const OFFLINE = "/judge/offline/";

async function install() {
  const cache = await caches.open(KEPT);
  const page = await fetch(OFFLINE);
  const files = [...(await page.clone().text()).matchAll(/(?:href|src)="(\/[^"]+\.(?:css|js))"/g)].map(([, file]) => file);
  await cache.put(OFFLINE, page);
  await cache.addAll(files);
  await self.skipWaiting();
}

async function removeOthers() {
  for (const name of await caches.keys()) if (name !== KEPT) await caches.delete(name);
}

/** The file from the server, or the one that was kept. */
async function fileOf(request) {
  const cache = await caches.open(KEPT);
  try {
    const response = await fetch(request);
    if (response.ok) cache.put(request, response.clone());
    return response;
  } catch {
    return (await cache.match(request)) ?? Response.error();
  }
}

const pageOf = (request) => fetch(request).catch(async () => (await caches.match(OFFLINE)) ?? Response.error());

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(removeOthers()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const isFile = new URL(request.url).pathname.startsWith("/static/");
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(pageOf(request));
  else if (isFile) event.respondWith(fileOf(request));
});
