"""The states that simulated devices report after an action, or when a test sets them, as most devices do."""

import math
from collections.abc import Mapping
from typing import Any

from homeassistant.util import color

from clock import dt_util
from values import as_text

# Attributes that a light has only while it is on, and a fan, too. The hub itself reports them as null otherwise.
_COLORS = ("color_temp_kelvin", "hs_color", "rgb_color", "rgbw_color", "rgbww_color", "xy_color")
_WHILE_ON = {
    "light": dict.fromkeys(("brightness", "color_mode", "effect", *_COLORS)),
    "fan": {"percentage": 0, "preset_mode": None},
}
# The hub leaves out an attribute with this value.
_ABSENT = object()
# Attributes that the hub leaves out while a player is off.
_WHILE_PLAYER_IS_ON = (
    *("app_id", "app_name", "is_volume_muted", "media_album_artist", "media_album_name", "media_artist"),
    *("media_channel", "media_content_id", "media_content_type", "media_duration", "media_episode"),
    *("media_playlist", "media_position", "media_position_updated_at", "media_season", "media_series_title"),
    *("media_title", "media_track", "repeat", "shuffle", "sound_mode", "source", "volume_level"),
)
# All features of a player. The hub's scenes fail without this attribute.
_ABILITIES = {"media_player": {"supported_features": 2**23 - 1}}
# Domains with `turn_on` that are not set up, so that an action of `homeassistant` acts on their simulated entities.
_SWITCHED = frozenset(("camera", "group", "input_boolean", "media_player", "remote"))
# Attributes of an entity that is unavailable: its names and abilities. The hub leaves out all others.
_OF_UNAVAILABLE = frozenset(
    (
        *("assumed_state", "attribution", "available_modes", "code_arm_required", "device_class", "effect_list"),
        *("entity_picture", "event_types", "fan_modes", "fan_speed_list", "friendly_name", "hvac_modes", "icon"),
        *("max", "max_color_temp_kelvin", "max_humidity", "max_temp", "min", "min_color_temp_kelvin", "min_humidity"),
        *("min_temp", "mode", "operation_list", "options", "pattern", "preset_modes", "restored", "sound_mode_list"),
        *("source_list", "source_type", "state_class", "step", "supported_color_modes", "supported_features"),
        *("swing_horizontal_modes", "swing_modes", "target_temp_step", "unit_of_measurement"),
    )
)

_STATES = {
    **{"turn_on": "on", "turn_off": "off", "open_cover": "open", "close_cover": "closed", "open_valve": "open"},
    **{"close_valve": "closed", "lock": "locked", "unlock": "unlocked", "open": "open", "start": "cleaning"},
    **{"clean_area": "cleaning", "clean_spot": "cleaning", "return_to_base": "returning", "start_mowing": "mowing"},
    **{"dock": "docked", "pause": "paused", "stop": "idle", "play_media": "playing"},
    **{"media_play": "playing", "media_pause": "paused", "media_stop": "idle", "alarm_disarm": "disarmed"},
    **{"alarm_arm_home": "armed_home", "alarm_arm_away": "armed_away", "alarm_arm_night": "armed_night"},
    **{"alarm_arm_vacation": "armed_vacation", "alarm_arm_custom_bypass": "armed_custom_bypass"},
    **{"alarm_trigger": "triggered"},
}
# Domains in which a service with a common name has another effect. An empty text means that the state does not change.
_STATES_OF = {
    "camera": {"turn_on": "idle", "turn_off": "idle"},
    "timer": {"start": "active", "pause": "paused", "cancel": "idle", "finish": "idle"},
    "water_heater": {"turn_on": ""},
}
_POSITIONS = {"open_cover": 100, "close_cover": 0, "open_valve": 100, "close_valve": 0}
_TILTS = {"open_cover_tilt": 100, "close_cover_tilt": 0}
_STATE_FROM = {
    **{"set_hvac_mode": "hvac_mode", "select_option": "option", "set_value": "value"},
    "set_operation_mode": "operation_mode",
}
_ATTRIBUTES = frozenset(
    (
        *("direction", "effect", "fan_mode", "fan_speed", "humidity", "is_volume_muted", "mode", "oscillating"),
        *("percentage", "preset_mode", "repeat", "shuffle", "sound_mode", "source", "swing_horizontal_mode"),
        *("swing_mode", "target_temp_high", "target_temp_low", "temperature", "volume_level"),
    )
)

_NUMBERS = frozenset(("humidity", "percentage", "target_temp_high", "target_temp_low", "temperature", "volume_level"))

# Fields of actions for which the hub allows only the values in a list, with the attribute of the list.
_CHOICES = {
    **{"select_option": ("option", "options"), "set_fan_mode": ("fan_mode", "fan_modes")},
    **{"set_hvac_mode": ("hvac_mode", "hvac_modes"), "set_mode": ("mode", "available_modes")},
    **{"set_operation_mode": ("operation_mode", "operation_list"), "set_preset_mode": ("preset_mode", "preset_modes")},
    **{"set_swing_mode": ("swing_mode", "swing_modes"), "turn_on": ("preset_mode", "preset_modes")},
}
# Fields of actions for which the hub has a range, with the attributes of its ends.
_RANGES = {
    "set_humidity": (("humidity",), "min_humidity", "max_humidity"),
    "set_temperature": (("target_temp_high", "target_temp_low", "temperature"), "min_temp", "max_temp"),
    "set_value": (("value",), "min", "max"),
}


class Devices:
    """The attributes that devices have, but do not report in their present state."""

    def __init__(self) -> None:
        # By entity and attribute: the value that is reported instead, and the hidden one.
        self._hidden: dict[str, dict[str, tuple[Any, Any]]] = {}

    def attributes(
        self, entity: str, state: str, before: Mapping[str, Any], reported: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The attributes of an entity with a new state: those `reported`, those `before`, and those of the state."""
        hidden = self._hidden.pop(entity, {}).items()
        kept = {key: value for key, (instead, value) in hidden if before.get(key, _ABSENT) == instead}
        known = {**before, **kept, **reported}
        every = _implied(entity.split(".")[0], state, known)
        implied = {key: each for key, each in every.items() if key not in reported and known.get(key) is not None}
        # A cover that opens again does not return to its former position.
        self._hidden[entity] = {key: (each, known[key]) for key, each in implied.items() if key != "current_position"}
        return {key: each for key, each in {**known, **implied}.items() if each is not _ABSENT}


def _implied(domain: str, state: str, known: Mapping[str, Any]) -> Mapping[str, Any]:
    position = known.get("current_position")
    if state == "unavailable":
        return dict.fromkeys(known.keys() - _OF_UNAVAILABLE, _ABSENT)
    if domain == "media_player" and state == "off":
        return dict.fromkeys(_WHILE_PLAYER_IS_ON, _ABSENT)
    if domain in _WHILE_ON and state != "on":
        return _WHILE_ON[domain]
    if domain == "climate" and state == "off":
        return {"hvac_action": "off"}
    if domain in ("cover", "valve") and (state == "closed" or (state == "open" and position == 0)):
        return {"current_position": 0 if state == "closed" else 100}
    return {}


def abilities(entity: str) -> Mapping[str, Any]:
    """The attributes of the abilities that an entity has if the test gives none: it takes each action."""
    return _ABILITIES.get(entity.split(".")[0], {})


def is_switched_by_hub(domain: str) -> bool:
    """Whether `homeassistant.turn_on` and similar actions act on simulated entities of a domain that is not set up."""
    return domain in _SWITCHED


def _number(value: Any, default: Any = None) -> Any:
    """The number that the hub makes of a value, such as a number in quotes; else the default."""
    if isinstance(value, bool):
        return default
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        return default
    if math.isnan(number):
        return default
    return value if isinstance(value, int | float) else int(number) if number.is_integer() else number


def refusal(service: str, state: Any, data: Mapping[str, Any]) -> str | None:
    """Why the hub refuses an action on an entity: the test gives the entity's modes, options or range."""
    field, name = _CHOICES.get(service, ("", ""))
    choices = state.attributes.get(name)
    chosen = data.get(field)
    if chosen is not None and isinstance(choices, list) and as_text(chosen) not in map(as_text, choices):
        return f"{state.entity_id} has no {field} {as_text(chosen)}: {name} has {', '.join(map(as_text, choices))}"
    # The range of a text is that of its length.
    fields, least, most = ((), "", "") if state.domain == "text" else _RANGES.get(service, ((), "", ""))
    ends = _number(state.attributes.get(least), -math.inf), _number(state.attributes.get(most), math.inf)
    for each in fields:
        number = _number(data.get(each))
        if number is not None and not ends[0] <= number <= ends[1]:
            return f"{each} {number} is outside of the range of {state.entity_id}: {ends[0]:g} to {ends[1]:g}"
    return None


def echo(service: str, state: Any, data: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The state of an entity after a service that acts on it, and the attributes that change."""
    if service == "toggle":
        service = _toggled(state)
        # A light that is turned off ignores its brightness.
        data = data if service == "turn_on" else {}
    reported = {key: each for key, each in data.items() if key in _ATTRIBUTES}
    reported.update({key: _number(each, each) for key, each in reported.items() if key in _NUMBERS})
    if state.domain == "light" and service == "turn_on":
        if _brightness(state, data) == 0:
            # The hub turns such a light off.
            return "off", {}
        reported.update(_light(state, data))
    elif state.domain == "fan":
        reported.update(_fan(service, state, data))
    elif state.domain in ("cover", "valve"):
        reported.update(_cover(service, state, data))
    elif state.domain == "media_player":
        reported.update(_volume(service, state))
    return _state(service, state, data, reported), reported


def _toggled(state: Any) -> str:
    if state.domain in ("cover", "valve"):
        return f"{'open' if state.state in ('closed', 'closing') else 'close'}_{state.domain}"
    is_off = state.state == "off" or (state.domain == "media_player" and state.state == "standby")
    has_more_states = state.domain in ("climate", "media_player", "water_heater")
    return "turn_on" if is_off or (state.state != "on" and not has_more_states) else "turn_off"


def _state(service: str, state: Any, data: Mapping[str, Any], reported: Mapping[str, Any]) -> str:
    """The new state. `reported`: the attributes that change."""
    value = str(state.state)
    fixed = _STATES_OF.get(state.domain, {}).get(service, _STATES.get(service))
    target = data.get(_STATE_FROM.get(service, ""))
    if "current_position" in reported:
        return "closed" if float(reported["current_position"]) == 0 else "open"
    if state.domain == "fan" and reported.get("percentage") == 0:
        return "off"
    if state.domain == "fan" and {"percentage", "preset_mode"} & reported.keys():
        return "on"
    if state.domain == "climate" and service in ("turn_on", "set_temperature"):
        return as_text(data["hvac_mode"]) if data.get("hvac_mode") else _climate(service, state)
    if service in ("press", "turn_on") and state.domain in ("button", "input_button", "scene"):
        return str(dt_util.utcnow().isoformat())
    if fixed is not None:
        return fixed or value
    if service in ("stop_cover", "stop_valve") and value in ("closing", "opening"):
        return "closed" if _number(state.attributes.get("current_position")) == 0 else "open"
    if service == "media_play_pause":
        return "paused" if value == "playing" else "playing"
    if service == "set_datetime":
        return as_text(data.get("datetime") or data.get("time") or data.get("date") or value)
    if service == "set_value" and target is None:
        # The entities date, time and datetime.
        target = data.get(state.domain)
    if target is not None:
        return str(float(target)) if state.domain == "input_number" else as_text(target)
    return _stepped(service, state, data)


def _stepped(service: str, state: Any, data: Mapping[str, Any]) -> str:
    """The state after a service that goes on from the present one."""
    value, attributes = str(state.state), state.attributes
    if state.domain in ("counter", "input_number") and service in ("increment", "decrement"):
        step = float(attributes.get("step", 1)) * (1 if service == "increment" else -1)
        least, most = (attributes.get(name, attributes.get(f"{name}imum")) for name in ("min", "max"))
        number = float(value) + step
        number = number if least is None else max(float(least), number)
        number = number if most is None else min(float(most), number)
        return str(int(number)) if state.domain == "counter" else str(number)
    if state.domain == "counter" and service == "reset":
        return as_text(attributes.get("initial", 0))
    options = attributes.get("options") or []
    if state.domain in ("input_select", "select") and options and service.startswith("select_"):
        last = len(options) - 1
        present = options.index(value) if value in options else -1
        turn = {"next": present + 1, "previous": present - 1, "first": 0, "last": last}.get(service[7:], present)
        is_cycle = data.get("cycle", True)
        return as_text(options[turn % len(options) if is_cycle else max(0, min(last, turn))])
    return value


def _climate(service: str, state: Any) -> str:
    """The mode that the hub itself chooses for a climate device that is turned on."""
    modes = [mode for mode in state.attributes.get("hvac_modes") or () if mode != "off"]
    if service != "turn_on" or state.state != "off" or not modes:
        return str(state.state)
    order = [*(mode for mode in ("heat_cool", "heat", "cool") if mode in modes), state.state]
    return as_text(modes[0] if len(modes) == 1 else order[0])


def _light(state: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a light that is turned on. It has one color, which it reports in several forms."""
    brightness = _brightness(state, data)
    found: dict[str, Any] = {} if brightness is None else {"brightness": brightness}
    given = next((key for key in ("color_name", *_COLORS, "white") if data.get(key) is not None), None)
    if given is None:
        return found
    mode = _color_mode(given, state)
    if mode is None:
        return found
    forms = {} if given in ("rgbw_color", "rgbww_color", "white") else _forms(given, data[given])
    own = {} if given in ("color_name", "white") else as_tuples("light", {given: data[given]})
    # The light no longer reports the forms of its former color.
    former = {key: None for key in _COLORS if state.attributes.get(key) is not None}
    return {**found, **former, **forms, **own, "color_mode": mode}


def _color_mode(given: str, state: Any) -> str | None:
    """The mode of a light that gets a color. The hub converts a color to a form of the light; None: it has none."""
    mode = "color_temp" if given == "color_temp_kelvin" else given.removesuffix("_color").replace("color_name", "rgb")
    supported = state.attributes.get("supported_color_modes")
    if not isinstance(supported, list) or mode in supported:
        return mode
    # The hub leaves out a white that the light does not support.
    others = () if mode == "white" else ("rgb", "rgbw", "rgbww", "hs", "xy", "color_temp")
    return next((each for each in others if each in supported), None)


def as_tuples(domain: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes with colors as the hub has them, which compares a tuple with no list."""
    return {
        key: tuple(value) if domain == "light" and key in _COLORS and isinstance(value, list) else value
        for key, value in attributes.items()
    }


def _forms(given: str, value: Any) -> dict[str, Any]:
    if given == "color_temp_kelvin":
        hue = color.color_temperature_to_hs(float(value))
    elif given == "xy_color":
        hue = color.color_xy_to_hs(*value)
    elif given == "hs_color":
        hue = tuple(value)
    else:
        hue = color.color_RGB_to_hs(*(_rgb_of_name(value) if given == "color_name" else value))
    return {
        "hs_color": hue,
        "rgb_color": color.color_hs_to_RGB(*hue),
        "xy_color": color.color_hs_to_xy(*hue),
    }


def _rgb_of_name(name: str) -> tuple[int, int, int]:
    """The color with a name. The hub takes white for a name that it does not know."""
    try:
        red, green, blue = color.color_name_to_rgb(name)
    except ValueError:
        return 255, 255, 255
    return red, green, blue


def _brightness(state: Any, data: Mapping[str, Any]) -> int | None:
    """The brightness that the hub itself computes from the data of a call before the light gets it; None without."""
    present = int(state.attributes.get("brightness") or 0) if state.state == "on" else 0
    if "brightness_step" in data:
        value = present + int(data["brightness_step"])
    elif "brightness_step_pct" in data:
        value = round((round(present / 255 * 100) + float(data["brightness_step_pct"])) / 100 * 255)
    elif "brightness_pct" in data:
        value = round(255 * float(data["brightness_pct"]) / 100)
    elif data.get("brightness") is not None:
        value = int(data["brightness"])
    elif (white := _number(data.get("white"))) is not None and _color_mode("white", state):
        value = int(white)
    else:
        return None
    return max(0, min(255, value))


def _fan(service: str, state: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    if service in ("increase_speed", "decrease_speed"):
        step = float(data.get("percentage_step") or state.attributes.get("percentage_step") or 1)
        speed = float(state.attributes.get("percentage") or 0) + (step if service == "increase_speed" else -step)
        return {"percentage": max(0, min(100, round(speed)))}
    # A fan at a speed that was chosen has no preset.
    is_speed = data.get("percentage") is not None and "preset_mode" in state.attributes
    return {"preset_mode": data.get("preset_mode")} if is_speed else {}


def _cover(service: str, state: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "position" in data:
        found["current_position"] = _number(data["position"], data["position"])
    elif service in _POSITIONS and state.attributes.get("current_position") is not None:
        found["current_position"] = _POSITIONS[service]
    if "tilt_position" in data or service in _TILTS:
        found["current_tilt_position"] = _TILTS.get(service, _number(data.get("tilt_position")))
    return found


def _volume(service: str, state: Any) -> dict[str, Any]:
    volume = state.attributes.get("volume_level")
    if volume is None or service not in ("volume_down", "volume_up"):
        return {}
    return {"volume_level": round(max(0.0, min(1.0, float(volume) + (0.1 if service == "volume_up" else -0.1))), 2)}
