import { readSectionAlone } from './section-alone.ts';
import type { TableReader } from './table-reader.ts';

/** `[landing]`: which branch must hold a sealed commit before the run counts as landed. */
export interface LandingConfig {
  /** Name of a git remote; absent: the upstream of the target branch, else the branch itself. */
  readonly remote?: string;
}

/** A remote is a part of a ref name: `refs/remotes/<remote>/main`. */
const remoteName = /^\w[\w./-]{0,254}$/;

/** Reads `[landing]`: `remote`. */
export function readLandingSection(reader: TableReader): LandingConfig {
  const remote = reader.has('remote') ? reader.text('remote', '') : undefined;
  if (remote !== undefined && remote !== '' && !isRemoteName(remote))
    reader.refuse(
      reader.at('remote'),
      `\`${remote}\` is no name of a remote; expected one that \`git remote\` lists`,
    );
  reader.end();
  return remote === undefined ? {} : { remote };
}

function isRemoteName(name: string): boolean {
  return remoteName.test(name) && !/\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(name);
}

/** `[landing]` of a config file alone; the defaults where there is no file, or where it is not valid. */
export function landingOf(bytes: Uint8Array | undefined): LandingConfig {
  return readSectionAlone(bytes, 'landing', readLandingSection) ?? {};
}
