/** A Slim Fly with credits: docs/networks.md. */
import { int } from '../../model/option.ts';
import { routingOption } from '../networks/direct.ts';
import { networkModel } from '../networks/network-model.ts';
import { slimFly } from '../networks/slim-fly.ts';

export default networkModel({
  name: 'slimfly',
  help: 'Slim Fly with credit flow control: minimal, Valiant or adaptive (UGAL-L) routing',
  options: {
    q: int(5, 'an odd prime; there are 2 q² routers', { min: 3, max: 43 }),
    p: int(0, 'terminals of a router; 0: half of its links, which balances the network', {
      min: 0,
      max: 64,
    }),
    routing: routingOption(),
  },
  topology: slimFly,
});
