/** The time of day of an instant, as its reader writes it; the instant itself where that is none. */
export function timeWords(at: string): string {
  const when = new Date(at);
  return Number.isNaN(when.getTime())
    ? at
    : when.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

/** Day and time. */
export function dayWords(at: string): string {
  const when = new Date(at);
  return Number.isNaN(when.getTime())
    ? at
    : when.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
