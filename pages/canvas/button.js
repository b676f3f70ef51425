// The button of a component that has nothing else. Knows no words: they come with it.

const STAYS = 1600; // ms: how long it says that it is done

// A button that says what it is `named`, `working` while press() is under way, if there is a word for
// that, and then for a moment `done`.
function onlyButton(host, { named, working = named, done }, press) {
  const button = host.querySelector("button") ?? host.appendChild(document.createElement("button"));
  button.type = "button";
  button.textContent = named;
  button.onclick = async () => {
    button.textContent = working;
    await press();
    button.textContent = done;
    setTimeout(() => (button.textContent = named), STAYS);
  };
}
