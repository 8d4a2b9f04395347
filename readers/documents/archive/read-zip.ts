import type { ArchiveFault } from './archive-fault.ts';
import type { ZipLimits } from './zip-format.ts';
import { type ZipMember, zipMembers } from './zip-members.ts';

/** All members of a zip archive in memory, as `zipMembers` reads them. */
export function readZip(bytes: Buffer, limits: ZipLimits): readonly ZipMember[] | ArchiveFault {
  const members: ZipMember[] = [];
  const steps = zipMembers(bytes.length, limits);
  let step = steps.next();
  while (!step.done) {
    const asked = step.value;
    if ('name' in asked) members.push(asked);
    step = steps.next('name' in asked ? asked.bytes : bytes.subarray(asked.at, asked.at + asked.length));
  }
  return step.value ?? members;
}
