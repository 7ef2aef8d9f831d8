/* The page around a task: counts the time down, and goes back to the list once the frame reports a submission. */

const left = document.getElementById("left");
const frame = document.querySelector("iframe");

function spoken(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)} left`;
}

if (left) {
  const opened = performance.now();
  const show = () => {
    const passed = left.dataset.running === "1" ? (performance.now() - opened) / 1000 : 0;
    const seconds = Math.max(0, Math.floor(Number(left.dataset.seconds) - passed));
    left.textContent = seconds ? spoken(seconds) : "time is up";
    left.toggleAttribute("data-late", seconds < 60);
  };
  show();
  setInterval(show, 1000);
}

window.addEventListener("message", (event) => {
  if (event.source === frame?.contentWindow && event.origin === window.location.origin && event.data.submitted) {
    window.location.assign(document.getElementById("task").dataset.next);
  }
});
