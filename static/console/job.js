/* A job's page: its progress, asked for every second while the job is live and the page is seen. */

const card = document.getElementById("progress");

async function refresh() {
  if (document.hidden) return true;
  const answer = await fetch(card.dataset.progress, { headers: { Accept: "application/json" } });
  if (!answer.ok) return answer.status >= 500;
  const { live, html } = await answer.json();
  if (card.innerHTML !== html) card.innerHTML = html;
  return live;
}

async function watch() {
  const goesOn = await refresh().catch(() => true);
  if (goesOn) {
    setTimeout(watch, 1000);
  } else {
    card.setAttribute("aria-busy", "false");
    document.querySelector(".when-live")?.remove();
  }
}

if (card.dataset.progress) setTimeout(watch, 1000);
