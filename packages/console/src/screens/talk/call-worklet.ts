/** The audio worklet of websocket calls as a file, because the console's policy forbids scripts from `blob:`. */

import "@parley/client/worklet.js";
