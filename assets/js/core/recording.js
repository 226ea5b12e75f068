// Says what a recording is of: what is shown from one is badged with it all the time.
import { language, t, tell } from './strings.js';

/** The lanes, the device and the date of a recorded race, on one line. */
export function aboutRecording({ lanes, place, date }) {
  return [...lanes.map(tell), tell(place), writtenDate(date)].join(' · ');
}

/** How much slower than it ran it is shown, or that it is not. */
export function shownSpeed(factor) {
  return factor === 1 ? t('status.shown_full') : t('status.shown_slower', { n: factor });
}

function writtenDate(date) {
  const day = new Date(date);
  if (Number.isNaN(day.valueOf())) return date;
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(day);
}
