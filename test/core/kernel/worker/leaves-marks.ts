/** What came, in order. */
export const order: string[] = [];

/** A task that answers, and leaves something behind. */
export function run(how: 'turn' | 'rejection'): void {
  const mark = (): void => void order.push('left');
  if (how === 'turn') setImmediate(mark);
  else void Promise.reject(new Error('left')).catch(mark);
}
