const blockBytes = 512;

/**
 * Words that run shell text in which no file that is written grows beyond so many bytes, rounded down to 512 (`ulimit
 * -f` of POSIX); what writes on gets an error or is ended. Without a bound it is the shell alone.
 */
export function limitedShell(command: string, maxWriteBytes?: number): readonly string[] {
  if (maxWriteBytes === undefined) return ['sh', '-c', command];
  const blocks = String(Math.floor(maxWriteBytes / blockBytes));
  return ['sh', '-c', 'ulimit -f "$1" && exec sh -c "$2"', 'sh', blocks, command];
}
