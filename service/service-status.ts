import { findService, isHealthy } from './find-service.ts';
import type { ServicePlace } from './service-place.ts';

/** `data` of `writ service status --json`. */
export interface ServiceStatus {
  readonly running: boolean;
  readonly state: 'running' | 'stale' | 'stopped';
  readonly pid?: number;
  readonly base_url?: string;
  /** RFC 3339. */
  readonly started_at?: string;
  readonly working_dir?: string;
  /** Path of the file with the running instance's secret token. */
  readonly token_file?: string;
  readonly health: 'ok' | 'unreachable' | 'stale';
}

/** What the instance published, whether its process still holds the lock, and whether it answers. */
export async function serviceStatus(place: ServicePlace): Promise<ServiceStatus> {
  const found = await findService(place);
  if (found.state === 'stopped') return { running: false, state: 'stopped', health: 'unreachable' };
  const { pid, baseUrl, startedAt, workingDir } = found.discovery;
  const known = { pid, base_url: baseUrl, started_at: startedAt, working_dir: workingDir };
  if (found.state === 'stale') return { running: false, state: 'stale', ...known, health: 'stale' };
  const token = { token_file: place.token };
  const health = (await isHealthy(found.discovery)) ? 'ok' : 'unreachable';
  return { running: true, state: 'running', ...known, ...token, health };
}
