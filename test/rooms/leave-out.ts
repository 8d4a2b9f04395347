const left: string[] = [];

/** Says of a room, once and at its end, what was left to `npm run test:long`. */
export function leaveOut(what: string): void {
  if (left.length === 0)
    process.once('exit', () => {
      process.stdout.write(`# note: left to \`npm run test:long\`: ${left.join('; ')}\n`);
    });
  left.push(what);
}
