import { type Outside, realOutside } from '../../engine/tool/egress/outside.ts';

/** Any public address: what is connected to is a suite's own server. */
const somewhere = '1.1.1.1';

/** A network in which every name leads to one port of the loopback: what a plugin under test is shown. */
export function leadTo(port: () => number): Outside {
  return {
    resolve: async () => [somewhere],
    connect: () => realOutside.connect('127.0.0.1', port()),
    ownAddresses: () => [],
  };
}
