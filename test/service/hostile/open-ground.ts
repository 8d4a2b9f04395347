import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { findServicePlace, type ServicePlace } from '../../../service/find-service.ts';
import { type RunningService, type ServiceOptions, startService } from '../../../service/run-service.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';
import type { HostilePlace } from './hostile-row.ts';

/** A repository with links in it, and a directory beside it that is nobody's business. */
export interface Ground {
  readonly box: string;
  readonly root: string;
  readonly outside: string;
  readonly repository: Repository;
  readonly files: ServicePlace;
}

/** Hundreds of rows end with a durable mark: on a busy disk each would wait for others. */
const memory = '/dev/shm';

/** Made for one test, gone after it. */
export async function makeGround(t: Test): Promise<Ground> {
  const box = realpathSync(mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'writ-hostile-')));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  const root = join(box, 'repo');
  const outside = join(box, 'outside');
  for (const path of [`${root}-evil`, outside, join(root, 'd')]) mkdirSync(path, { recursive: true });
  writeFileSync(join(outside, 'kept.txt'), 'kept\n');
  makeRepository(root).commit({ a: 'a', 'd/x': 'x' });
  symlinkSync(outside, join(root, 'out'));
  symlinkSync('d', join(root, 'in'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync(join(outside, 'none'), join(root, 'gone'));
  const repository = await openRepository(root);
  return { box, root, outside, repository, files: await findServicePlace(repository) };
}

/** A service in this process, and what it had to report. */
export interface ServedGround extends HostilePlace {
  readonly ground: Ground;
  readonly service: RunningService;
  /** Faults of ours: there are to be none. */
  readonly faults: readonly unknown[];
}

/** Serves `ground`, which is made where none is given, until the test ends. */
export async function openGround(
  t: Test,
  settings: Partial<ServiceOptions> = {},
  given?: Ground,
): Promise<ServedGround> {
  const ground = given ?? (await makeGround(t));
  const faults: unknown[] = [];
  const service = await startService({
    repository: ground.repository,
    place: ground.files,
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    report: (fault) => faults.push(fault),
    ...settings,
  });
  t.teardown(() => service.stop());
  const { port, host } = new URL(service.discovery.baseUrl);
  const token = readFileSync(ground.files.token, 'utf8');
  const engineToken = readFileSync(ground.files.engineToken, 'utf8');
  return {
    ground,
    service,
    faults,
    port: Number(port),
    host,
    token,
    engineToken,
    root: ground.root,
    outside: ground.outside,
  };
}
