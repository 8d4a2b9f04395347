import type { Ground } from './ground.ts';

/** This process, with the terminal that it was started in. */
export function processGround(): Ground {
  const { stdin, stdout } = process;
  const hasJobs = process.platform !== 'win32';
  return {
    env: process.env,
    isTerminal: { input: stdin.isTTY === true, output: stdout.isTTY === true },
    raw: (on) => {
      try {
        // Somebody else may have changed the terminal meanwhile: what Node believes to be set already it sets not.
        stdin.setRawMode(!on);
        stdin.setRawMode(on);
      } catch {
        // The terminal is gone; `onEnd` tells.
      }
    },
    write: (text) => {
      if (stdout.writable) stdout.write(text);
    },
    size: () => {
      refreshSize(stdout);
      return { columns: stdout.columns || 80, rows: stdout.rows || 24 };
    },
    onBytes: (told) => {
      stdin.on('data', told);
      stdin.resume();
      return () => {
        stdin.off('data', told);
        stdin.pause();
      };
    },
    onEnd: (told) => {
      stdin.on('end', told).on('close', told).on('error', told);
      stdout.on('error', told);
      return () => {
        stdin.off('end', told).off('close', told);
        // A fault of a terminal that has gone is nobody's any more.
        stdin.off('error', told).on('error', ignore);
        stdout.off('error', told).on('error', ignore);
      };
    },
    onResize: (told) => {
      stdout.on('resize', told);
      return () => stdout.off('resize', told);
    },
    onSignal: (name, told) => {
      if (!hasJobs && (name === 'SIGTSTP' || name === 'SIGCONT')) return ignore;
      process.on(name, told);
      return () => process.off(name, told);
    },
    onLast: (told) => {
      process.on('exit', told).on('uncaughtExceptionMonitor', told);
      return () => process.off('exit', told).off('uncaughtExceptionMonitor', told);
    },
    stop: () => {
      if (hasJobs) process.kill(0, 'SIGTSTP');
    },
  };
}

function ignore(): void {}

/** Node asks for the size when it is told of another one: a process that was stopped meanwhile is not. */
function refreshSize(stdout: NodeJS.WriteStream): void {
  if ('_refreshSize' in stdout && typeof stdout._refreshSize === 'function') stdout._refreshSize();
}
