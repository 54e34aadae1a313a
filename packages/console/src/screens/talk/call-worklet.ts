/** The audio worklet of calls by websocket, as a file of the console: its policy loads no script from `blob:`. */

import "@parley/client/worklet.js";
