import type { ArtifactProducer } from '../../core/contract/artifact-producer.ts';
import { toCycloneDx } from './cyclonedx-document.ts';
import { findNpmProjects } from './npm/find-projects.ts';

/**
 * `sbom`: a CycloneDX 1.6 document of the candidate's npm projects, out of manifests and lockfiles alone. Nothing where there is no npm
 * project, or where one cannot be described completely.
 */
export const sbomProducer: ArtifactProducer = {
  contentType: 'application/vnd.cyclonedx+json; version=1.6',
  extension: 'json',
  async produce(request) {
    const projects = await findNpmProjects(request);
    if (projects === undefined) return undefined;
    const { locator } = request.spec.metadata.target.repo;
    const subject =
      locator
        .replace(/\/+$/, '')
        .split('/')
        .at(-1)
        ?.replace(/\.git$/, '') || 'repository';
    return toCycloneDx(projects, request.baseTimeMs, subject);
  },
};
