import { Link } from "react-router";
import styles from "./starter-cards.module.css";
import { STARTERS } from "./starters.ts";

/** Templates for a new agent; each opens the form with its values. */
export function StarterCards() {
  return (
    <ul className={styles.cards}>
      {STARTERS.map(({ id, name, text, icon: Icon }) => (
        <li key={id}>
          <Link className={styles.card} to={`/agents/new?starter=${id}`}>
            <Icon aria-hidden="true" />
            <span>
              <strong>{name}</strong>
              <span className={styles.text}>{text}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
