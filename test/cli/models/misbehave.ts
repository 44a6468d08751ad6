/** A ring of four LPs. At virtual time 6, LP 2 does what `--what` says. */
import { writeSync } from 'node:fs';
import { defineModel, text } from 'triscope/sim';

export default defineModel({
  name: 'misbehave',
  options: { what: text('nothing', 'what LP 2 does') },
  lps: () => 4,
  end: 50,
  lookahead: 1,
  state: { seen: 'u8' },
  message: { hops: 'i32' },
  init(lp) {
    lp.send(lp.id, 1).hops = 7;
  },
  forward(lp, message) {
    lp.send((lp.id + 1) % lp.lps, 1).hops = message.hops;
    if (lp.id !== 2 || lp.now < 6) return;
    switch (lp.params.what) {
      case 'throw':
        throw new Error('two\nlines');
      case 'exit':
        process.exit(0);
        break;
      case 'negative':
        lp.send(0, -1);
        break;
      case 'nobody':
        lp.send(99, 1);
        break;
      case 'lookahead':
        lp.send(0, 0.5);
        break;
      case 'overflow':
        lp.state.seen = 300;
        break;
      case 'loop':
        writeSync(2, 'it loops\n');
        for (;;);
      case 'output':
        lp.output(`LP ${lp.id} at ${lp.now}`);
        break;
      case 'print':
        console.log('printed by the model');
    }
  },
});
