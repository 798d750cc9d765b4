/** Counts a question down from the time the server said was left; never looks at the time of day. */

const BEAT_MS = 100;
const LAST_MS = 3000;

/**
 * @param {(left: number|null, share: number, last: boolean) => void} show ms left, share of the whole, last seconds
 * @param {() => void} tick called once for each of the last three seconds
 */
export function createClock(show, tick) {
  let end = null;
  let whole = 1;
  let timer = null;
  let said = null;

  function beat() {
    const left = Math.max(0, end - performance.now());
    const last = left <= LAST_MS;
    show(left, Math.min(1, left / whole), last);
    const second = Math.ceil(left / 1000);
    if (last && left > 0 && second !== said) {
      said = second;
      tick();
    }
    if (left === 0) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
  }

  return {
    /** @param {{left: number, at: number}|null} clock from the store; @param {number|null} total ms of a whole turn */
    set(clock, total) {
      stop();
      if (clock === null) {
        end = null;
        show(null, 1, false);
        return;
      }
      end = clock.at + clock.left;
      whole = Math.max(total ?? clock.left, 1);
      said = null;
      beat();
      timer = setInterval(beat, BEAT_MS);
    },
  };
}
